import torch
import triton
import triton.language as tl


@triton.jit
def norm_row(x_ptr, w_ptr, b_ptr, y_ptr, cols, BLOCK: tl.constexpr):
    # One program per row, in three passes over blocks of columns.
    start = tl.program_id(0).to(tl.int64) * cols
    lanes = tl.arange(0, BLOCK)
    total = 0.0
    for first in range(0, cols, BLOCK):
        total += tl.sum(tl.load(x_ptr + start + first + lanes, mask=first + lanes < cols, other=0.0), axis=0)
    mean = total / cols
    squares = 0.0
    for first in range(0, cols, BLOCK):
        here = first + lanes < cols
        centred = tl.load(x_ptr + start + first + lanes, mask=here, other=0.0) - mean
        squares += tl.sum(tl.where(here, centred * centred, 0.0), axis=0)
    scale = 1.0 / tl.sqrt(squares / cols + 1e-5)
    for first in range(0, cols, BLOCK):
        here = first + lanes < cols
        x = tl.load(x_ptr + start + first + lanes, mask=here, other=0.0)
        w = tl.load(w_ptr + first + lanes, mask=here, other=0.0)
        b = tl.load(b_ptr + first + lanes, mask=here, other=0.0)
        tl.store(y_ptr + start + first + lanes, (x - mean) * scale * w + b, mask=here)


def kernel(x, weight, bias):
    rows, cols = x.shape
    y = torch.empty_like(x)
    norm_row[(rows,)](x, weight, bias, y, cols, BLOCK=1024)
    return y
