"""Calls the library's kernel for the whole task."""

import torch


def kernel(x):
    return torch.softmax(x, dim=-1)
