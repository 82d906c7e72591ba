# torch.softmax written straight into the preallocated output, so that nothing is allocated or copied.
import torch


def kernel(x, out):
    torch.softmax(x, dim=1, out=out)
