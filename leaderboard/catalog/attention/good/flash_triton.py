# Blocks of 64 queries walk over blocks of 32 keys with the online softmax; the matrix of scores never exists.
import torch
import triton
import triton.language as tl


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, y_ptr, length, scale,
    DIM: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    start = tl.program_id(1).to(tl.int64) * length * DIM
    # The last queries have most keys to see: they come first.
    first = (tl.num_programs(0) - 1 - tl.program_id(0)) * QUERIES
    i = first + tl.arange(0, QUERIES)
    d = tl.arange(0, DIM)
    q_at = start + i[:, None] * DIM + d[None, :]
    q = tl.load(q_ptr + q_at, mask=i[:, None] < length, other=0.0) * scale
    peak = tl.full((QUERIES,), -float("inf"), tl.float32)
    total = tl.zeros((QUERIES,), tl.float32)
    y = tl.zeros((QUERIES, DIM), tl.float32)
    for left in range(0, tl.minimum(first + QUERIES, length), KEYS):
        j = left + tl.arange(0, KEYS)
        at = start + j[:, None] * DIM + d[None, :]
        k = tl.load(k_ptr + at, mask=j[:, None] < length, other=0.0)
        v = tl.load(v_ptr + at, mask=j[:, None] < length, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee")
        scores = tl.where(i[:, None] >= j[None, :], scores, -float("inf"))
        # Key 0 is seen by every query in the first block, so the maximum is never -inf.
        higher = tl.maximum(peak, tl.max(scores, axis=1))
        weights = tl.exp(scores - higher[:, None])
        shrink = tl.exp(peak - higher)
        total = total * shrink + tl.sum(weights, axis=1)
        y = y * shrink[:, None] + tl.dot(weights, v, input_precision="ieee")
        peak = higher
    tl.store(y_ptr + q_at, y / total[:, None], mask=i[:, None] < length)


def kernel(q, k, v):
    heads, length, dim = q.shape
    y = torch.empty_like(q)
    grid = (triton.cdiv(length, 64), heads)
    attention[grid](q, k, v, y, length, dim**-0.5, DIM=dim, QUERIES=64, KEYS=32, num_warps=8)
    return y
