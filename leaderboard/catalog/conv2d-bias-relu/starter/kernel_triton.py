import torch
import triton
import triton.language as tl


@triton.jit
def convolve(x_ptr, w_ptr, b_ptr, y_ptr, channels, height, width, filters, BLOCK: tl.constexpr):
    # Each program computes a run of pixels of one filter of one image.
    image = (tl.program_id(1) // filters).to(tl.int64)
    f = tl.program_id(1) % filters
    pixel = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row, col = pixel // width, pixel % width
    total = tl.zeros((BLOCK,), tl.float32) + tl.load(b_ptr + f)
    for c in range(channels):
        plane = x_ptr + (image * channels + c) * height * width
        for p in range(3):
            for q in range(3):
                i, j = row + p - 1, col + q - 1
                inside = (i >= 0) & (i < height) & (j >= 0) & (j < width)
                x = tl.load(plane + i * width + j, mask=inside, other=0.0)
                total += x * tl.load(w_ptr + ((f * channels + c) * 3 + p) * 3 + q)
    start = (image * filters + f) * height * width
    tl.store(y_ptr + start + pixel, tl.maximum(total, 0.0), mask=pixel < height * width)


def kernel(x, weight, bias):
    batch, channels, height, width = x.shape
    filters = weight.shape[0]
    y = torch.empty(batch, filters, height, width, dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(height * width, 256), batch * filters)
    convolve[grid](x, weight, bias, y, channels, height, width, filters, BLOCK=256)
    return y
