# The library's fused attention, with TF32 off in case it falls back to ordinary products.
import torch

torch.backends.cuda.matmul.allow_tf32 = False


def kernel(q, k, v):
    heads, length, dim = q.shape
    if q.is_cuda:
        shape = (1, heads, length, dim)
        y = torch.nn.functional.scaled_dot_product_attention(
            q.view(shape), k.view(shape), v.view(shape), is_causal=True
        )
        return y.view(heads, length, dim)
    # On the CPU each block of queries meets only the keys it may see.
    y = torch.empty_like(q)
    step = 128
    later = torch.ones(step, step, dtype=torch.bool).triu(1)
    for first in range(0, length, step):
        last = min(first + step, length)
        scores = torch.bmm(q[:, first:last] * dim**-0.5, k[:, :last].transpose(1, 2))
        scores[:, :, first:].masked_fill_(later[: last - first, : last - first], -float("inf"))
        y[:, first:last] = torch.bmm(torch.softmax(scores, dim=2), v[:, :last])
    return y
