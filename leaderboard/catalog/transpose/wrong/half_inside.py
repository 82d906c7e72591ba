# Wrong: moves half the bytes by rounding the elements to bfloat16.
import torch


def kernel(x):
    return x.to(torch.bfloat16).t().float().contiguous()
