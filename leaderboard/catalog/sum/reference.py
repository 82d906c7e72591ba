import torch


def reference(x):
    return torch.sum(x).reshape(1)
