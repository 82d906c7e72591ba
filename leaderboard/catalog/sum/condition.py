import torch


def condition(x):
    return torch.sum(x.abs()).reshape(1)
