import torch
import triton
import triton.language as tl


@triton.jit
def attention_row(q_ptr, k_ptr, v_ptr, y_ptr, length, scale, DIM: tl.constexpr, BLOCK: tl.constexpr):
    # One program per query; scores of a block of keys at a time, with the online softmax.
    i = tl.program_id(0)
    start = tl.program_id(1).to(tl.int64) * length * DIM
    d = tl.arange(0, DIM)
    q = tl.load(q_ptr + start + i * DIM + d)
    peak = -float("inf")
    total = 0.0
    y = tl.zeros((DIM,), tl.float32)
    for first in range(0, i + 1, BLOCK):
        j = first + tl.arange(0, BLOCK)
        seen = j <= i
        at = start + j[:, None] * DIM + d[None, :]
        k = tl.load(k_ptr + at, mask=seen[:, None], other=0.0)
        v = tl.load(v_ptr + at, mask=seen[:, None], other=0.0)
        scores = tl.where(seen, tl.sum(q[None, :] * k, axis=1) * scale, -float("inf"))
        higher = tl.maximum(peak, tl.max(scores, axis=0))
        weights = tl.exp(scores - higher)
        shrink = tl.exp(peak - higher)
        total = total * shrink + tl.sum(weights, axis=0)
        y = y * shrink + tl.sum(weights[:, None] * v, axis=0)
        peak = higher
    tl.store(y_ptr + start + i * DIM + d, y / total)


def kernel(q, k, v):
    heads, length, dim = q.shape
    y = torch.empty_like(q)
    attention_row[(length, heads)](q, k, v, y, length, dim**-0.5, DIM=dim, BLOCK=32)
    return y
