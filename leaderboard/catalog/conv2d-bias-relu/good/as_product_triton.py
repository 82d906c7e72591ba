# The convolution as a matrix product whose left side, the 3 by 3 neighbourhoods, is gathered tile by tile.
import torch
import triton
import triton.language as tl


@triton.jit
def convolve(
    x_ptr, w_ptr, b_ptr, y_ptr, channels, height, width, filters,
    PIXELS: tl.constexpr, FILTERS: tl.constexpr, DEEP: tl.constexpr,
):  # fmt: skip
    image = tl.program_id(2).to(tl.int64)
    pixel = tl.program_id(0) * PIXELS + tl.arange(0, PIXELS)
    f = tl.program_id(1) * FILTERS + tl.arange(0, FILTERS)
    row, col = pixel // width, pixel % width
    taps = channels * 9
    images = x_ptr + image * channels * height * width
    total = tl.zeros((FILTERS, PIXELS), tl.float32)
    for first in range(0, taps, DEEP):
        tap = first + tl.arange(0, DEEP)
        i = row[None, :] + (tap % 9 // 3)[:, None] - 1
        j = col[None, :] + (tap % 3)[:, None] - 1
        inside = (i >= 0) & (i < height) & (j >= 0) & (j < width) & (tap < taps)[:, None]
        x = tl.load(images + ((tap // 9)[:, None] * height + i) * width + j, mask=inside, other=0.0)
        w_mask = (f < filters)[:, None] & (tap < taps)[None, :]
        w = tl.load(w_ptr + f[:, None] * taps + tap[None, :], mask=w_mask, other=0.0)
        total = tl.dot(w, x, total, input_precision="ieee")
    total += tl.load(b_ptr + f, mask=f < filters, other=0.0)[:, None]
    place = (image * filters + f[:, None]) * height * width + pixel[None, :]
    mask = (f < filters)[:, None] & (pixel < height * width)[None, :]
    tl.store(y_ptr + place, tl.maximum(total, 0.0), mask=mask)


def kernel(x, weight, bias):
    batch, channels, height, width = x.shape
    filters = weight.shape[0]
    y = torch.empty(batch, filters, height, width, dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(height * width, 128), triton.cdiv(filters, 64), batch)
    convolve[grid](
        x, weight, bias, y, channels, height, width, filters, PIXELS=128, FILTERS=64, DEEP=16, num_warps=8
    )  # fmt: skip
    return y
