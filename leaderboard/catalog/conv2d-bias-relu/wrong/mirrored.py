# Wrong: a convolution as in signal processing, with the filter mirrored.
import torch


def kernel(x, weight, bias):
    return torch.relu(torch.nn.functional.conv2d(x, weight.flip(2, 3), bias, padding=1))
