# Wrong: the exclusive scan, one column late.
import torch


def kernel(x):
    return torch.cumsum(x, dim=1) - x
