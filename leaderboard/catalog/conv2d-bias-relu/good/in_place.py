# The library's convolution; the ReLU overwrites its result instead of making another tensor.
import torch

torch.backends.cudnn.allow_tf32 = False


def kernel(x, weight, bias):
    return torch.nn.functional.conv2d(x, weight, bias, padding=1).relu_()
