# Wrong: rounds partial sums of 32 products to bfloat16.
import torch


def kernel(a, b):
    c = torch.zeros(a.shape[0], b.shape[1], dtype=a.dtype, device=a.device)
    for first in range(0, a.shape[1], 32):
        c += a[:, first : first + 32] @ b[first : first + 32]
    return c
