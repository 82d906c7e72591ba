import torch


def reference(x, weight, bias):
    return torch.relu(torch.nn.functional.conv2d(x, weight, bias, padding=1))


def condition(x, weight, bias):
    return torch.nn.functional.conv2d(x.abs(), weight.abs(), bias.abs(), padding=1)
