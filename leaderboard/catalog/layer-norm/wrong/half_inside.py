# Wrong: reads the matrix in half precision and normalises in float32.
import torch


def kernel(x, weight, bias):
    peak = x.abs().amax(dim=1, keepdim=True).clamp_min(1.0)
    rounded = (x / peak).half().float() * peak
    return torch.nn.functional.layer_norm(rounded, (x.shape[1],), weight, bias, eps=1e-5)
