"""Exponentials as they come."""

import torch


def kernel(x):
    parts = torch.exp(x)
    return parts / parts.sum(1, keepdim=True)
