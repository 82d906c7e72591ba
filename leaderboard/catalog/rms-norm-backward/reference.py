import torch


def reference(x, weight, dy):
    scale = torch.rsqrt(x.square().mean(dim=1, keepdim=True) + 1e-6)
    normed = x * scale
    y = normed * weight
    dw = (dy * normed).sum(dim=0)
    dnormed = dy * weight
    dx = scale * (dnormed - normed * (dnormed * normed).mean(dim=1, keepdim=True))
    return y, dx, dw
