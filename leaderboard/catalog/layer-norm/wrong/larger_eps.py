# Wrong: adds 1e-3 to the variance instead of 1e-5.
import torch


def kernel(x, weight, bias):
    return torch.nn.functional.layer_norm(x, (x.shape[1],), weight, bias, eps=1e-3)
