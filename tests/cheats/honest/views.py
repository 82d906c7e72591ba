"""Returns a plain tensor that is a dense view of a larger one, in a list."""

import torch


def kernel(x):
    room = torch.empty((2, *x.shape))
    torch.add(1, x, alpha=2, out=room[1])
    return [room[1]]
