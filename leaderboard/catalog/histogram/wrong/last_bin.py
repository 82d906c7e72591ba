# Wrong: the last bin is left at zero.
import torch


def kernel(values):
    counts = torch.bincount(values, minlength=1024).to(torch.int32)
    counts[1023] = 0
    return counts
