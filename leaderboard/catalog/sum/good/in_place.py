# One reduction straight into the preallocated output; torch adds in a tree, so float32 is exact enough.
import torch


def kernel(x, out):
    torch.sum(x.reshape(1, -1), dim=1, out=out)
