import torch


def condition(x, weight, bias):
    return torch.nn.functional.conv2d(x.abs(), weight.abs(), bias.abs(), padding=1)
