# Wrong: dx leaves out that the norm itself depends on x.
import torch


def kernel(x, weight, dy):
    scale = torch.rsqrt(x.square().mean(dim=1, keepdim=True) + 1e-6)
    normed = x * scale
    return normed * weight, scale * dy * weight, (dy * normed).sum(dim=0)
