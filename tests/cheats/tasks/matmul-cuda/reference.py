import torch


def reference(a, b):
    return torch.matmul(a, b)
