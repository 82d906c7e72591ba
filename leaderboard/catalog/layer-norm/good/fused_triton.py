# A short row is loaded once and kept in registers; a long one takes mean and variance together in one pass.
import torch
import triton
import triton.language as tl


@triton.jit
def whole_row(x_ptr, w_ptr, b_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * cols
    lanes = tl.arange(0, BLOCK)
    here = lanes < cols
    x = tl.load(x_ptr + start + lanes, mask=here, other=0.0)
    mean = tl.sum(x, axis=0) / cols
    centred = tl.where(here, x - mean, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(centred * centred, axis=0) / cols + 1e-5)
    w = tl.load(w_ptr + lanes, mask=here, other=0.0)
    b = tl.load(b_ptr + lanes, mask=here, other=0.0)
    tl.store(y_ptr + start + lanes, centred * scale * w + b, mask=here)


@triton.jit
def long_row(x_ptr, w_ptr, b_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * cols
    lanes = tl.arange(0, BLOCK)
    # Sums are taken about the first element, so that a large common offset cannot cancel.
    origin = tl.load(x_ptr + start)
    sums = tl.zeros((BLOCK,), tl.float32)
    squares = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, cols, BLOCK):
        here = first + lanes < cols
        x = tl.load(x_ptr + start + first + lanes, mask=here, other=0.0)
        centred = tl.where(here, x - origin, 0.0)
        sums += centred
        squares += centred * centred
    shift = tl.sum(sums, axis=0) / cols
    variance = tl.maximum(tl.sum(squares, axis=0) / cols - shift * shift, 0.0)
    mean = origin + shift
    scale = 1.0 / tl.sqrt(variance + 1e-5)
    for first in range(0, cols, BLOCK):
        here = first + lanes < cols
        x = tl.load(x_ptr + start + first + lanes, mask=here, other=0.0)
        w = tl.load(w_ptr + first + lanes, mask=here, other=0.0)
        b = tl.load(b_ptr + first + lanes, mask=here, other=0.0)
        tl.store(y_ptr + start + first + lanes, (x - mean) * scale * w + b, mask=here)


def kernel(x, weight, bias):
    rows, cols = x.shape
    y = torch.empty_like(x)
    if cols <= 16384:
        block = max(triton.next_power_of_2(cols), 32)
        warps = 4 if block <= 2048 else 8 if block <= 8192 else 16
        whole_row[(rows,)](x, weight, bias, y, cols, BLOCK=block, num_warps=warps)
    else:
        long_row[(rows,)](x, weight, bias, y, cols, BLOCK=4096, num_warps=16)
    return y
