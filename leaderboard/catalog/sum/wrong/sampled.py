# Wrong: adds every second value and doubles the sum, which random data nearly forgives.
import torch


def kernel(x):
    return (x[::2].sum() * (x.numel() / x[::2].numel())).reshape(1)
