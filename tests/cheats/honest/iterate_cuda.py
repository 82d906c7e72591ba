"""Computes for several times as long as it takes to copy the data."""

import triton
import triton.language as tl


@triton.jit
def rounds(x_ptr, y_ptr, count, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(x_ptr + place, mask=place < count)
    for _ in tl.static_range(96):
        y = y - 0.0001 * y * y
    tl.store(y_ptr + place, y, mask=place < count)


def kernel(x, out):
    rounds[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
