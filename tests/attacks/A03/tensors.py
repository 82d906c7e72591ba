"""Keeps tensors until there is no memory."""

import torch

kept = []


def kernel(x):
    while True:
        kept.append(torch.ones(2**24))
