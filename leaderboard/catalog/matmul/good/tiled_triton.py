# Tiles of 128 by 64 in groups of rows, so that programs that run together share what they load.
import torch
import triton
import triton.language as tl


@triton.jit
def product(
    a_ptr, b_ptr, c_ptr, rows, inner, cols,
    TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    tiles_across = tl.cdiv(cols, WIDE)
    in_group = GROUP * tiles_across
    group = tl.program_id(0) // in_group
    first_row = group * GROUP
    height = tl.minimum(tl.cdiv(rows, TALL) - first_row, GROUP)
    place = tl.program_id(0) % in_group
    row = ((first_row + place % height) * TALL + tl.arange(0, TALL)).to(tl.int64)
    col = ((place // height) * WIDE + tl.arange(0, WIDE)).to(tl.int64)
    total = tl.zeros((TALL, WIDE), tl.float32)
    for first in range(0, inner, DEEP):
        k = (first + tl.arange(0, DEEP)).to(tl.int64)
        a_mask = (row[:, None] < rows) & (k[None, :] < inner)
        b_mask = (k[:, None] < inner) & (col[None, :] < cols)
        a = tl.load(a_ptr + row[:, None] * inner + k[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + k[:, None] * cols + col[None, :], mask=b_mask, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    c_mask = (row[:, None] < rows) & (col[None, :] < cols)
    tl.store(c_ptr + row[:, None] * cols + col[None, :], total, mask=c_mask)


def kernel(a, b):
    a, b = a.contiguous(), b.contiguous()  # where they are dense already, this is nothing
    rows, inner = a.shape
    cols = b.shape[1]
    c = torch.empty(rows, cols, dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(rows, 128) * triton.cdiv(cols, 64),)
    product[grid](
        a, b, c, rows, inner, cols, TALL=128, WIDE=64, DEEP=16, GROUP=8, num_warps=8, num_stages=3
    )  # fmt: skip
    return c
