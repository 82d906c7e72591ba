# The library's scan written straight into the preallocated output.
import torch


def kernel(x, out):
    torch.cumsum(x, dim=1, out=out)
