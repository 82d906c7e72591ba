# Wrong: rounds the running sums to half precision; they stay below its largest number, scaled by the row's total.
import torch


def kernel(x):
    sums = torch.cumsum(x.double(), dim=1)
    scale = sums.abs().amax(dim=1, keepdim=True).clamp_min(1.0)
    return ((sums / scale).half().double() * scale).float()
