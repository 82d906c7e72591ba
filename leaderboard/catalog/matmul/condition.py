import torch


def condition(a, b):
    return torch.matmul(a.abs(), b.abs())
