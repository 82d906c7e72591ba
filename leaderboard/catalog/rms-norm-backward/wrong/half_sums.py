# Wrong: the gradient of the weights is added up in half precision.
import torch


def kernel(x, weight, dy):
    scale = torch.rsqrt(x.square().mean(dim=1, keepdim=True) + 1e-6)
    normed = x * scale
    dnormed = dy * weight
    dx = scale * (dnormed - normed * (dnormed * normed).mean(dim=1, keepdim=True))
    return normed * weight, dx, (dy * normed).half().sum(dim=0).float()
