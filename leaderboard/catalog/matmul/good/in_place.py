# The library's product written straight into the preallocated output.
import torch


def kernel(a, b, out):
    torch.mm(a, b, out=out)
