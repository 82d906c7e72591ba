import torch


def reference(x, weight, bias):
    return torch.relu(torch.nn.functional.conv2d(x, weight, bias, padding=1))
