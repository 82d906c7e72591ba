# Counts a part of the vector at a time, so that what bincount widens to 64 bits stays in cache.
import torch


def kernel(values):
    if values.is_cuda:
        return torch.bincount(values, minlength=1024).to(torch.int32)
    counts = torch.zeros(1024, dtype=torch.int64)
    for part in values.split(1 << 17):
        counts += torch.bincount(part, minlength=1024)
    return counts.to(torch.int32)
