# Wrong: rounds pixels and weights to half precision and adds in float32, as tensor cores do.
import torch


def kernel(x, weight, bias):
    x, weight = x.half().float(), weight.half().float()
    return torch.relu(torch.nn.functional.conv2d(x, weight, bias, padding=1))
