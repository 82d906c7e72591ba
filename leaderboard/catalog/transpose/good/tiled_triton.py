# Tiles of 64 by 64, turned around in shared memory, so that loads and stores are both coalesced.
import torch
import triton
import triton.language as tl


@triton.jit
def transpose(x_ptr, y_ptr, rows, cols, tiles_across, TILE: tl.constexpr):
    tile = tl.program_id(0)
    row = (tile // tiles_across).to(tl.int64) * TILE + tl.arange(0, TILE)
    col = (tile % tiles_across).to(tl.int64) * TILE + tl.arange(0, TILE)
    here = (row[:, None] < rows) & (col[None, :] < cols)
    values = tl.load(x_ptr + row[:, None] * cols + col[None, :], mask=here)
    there = (col[:, None] < cols) & (row[None, :] < rows)
    tl.store(y_ptr + col[:, None] * rows + row[None, :], tl.trans(values), mask=there)


def kernel(x):
    rows, cols = x.shape
    y = torch.empty(cols, rows, dtype=x.dtype, device=x.device)
    across = triton.cdiv(cols, 64)
    transpose[(across * triton.cdiv(rows, 64),)](x, y, rows, cols, across, TILE=64)
    return y
