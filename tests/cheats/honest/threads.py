"""Hands half of the rows to another thread and waits for it."""

from concurrent.futures import ThreadPoolExecutor

import torch

pool = ThreadPoolExecutor(1)


def kernel(x, out):
    half = x.shape[0] // 2
    other = pool.submit(torch.add, 1, x[:half], alpha=2, out=out[:half])
    torch.add(1, x[half:], alpha=2, out=out[half:])
    other.result()
