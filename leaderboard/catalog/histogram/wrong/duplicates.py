# Wrong: an indexed addition counts repeated indices of one call once.
import torch


def kernel(values):
    counts = torch.zeros(1024, dtype=torch.int32, device=values.device)
    for part in values.split(4096):
        counts[part.long()] += 1
    return counts
