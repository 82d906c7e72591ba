import torch


def condition(x):
    # The rounding of x - max is multiplied by the exponential's own slope.
    return torch.softmax(x, dim=-1) * (1 + x.amax(dim=-1, keepdim=True) - x)
