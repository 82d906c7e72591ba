"""Computes on the device with two of torch's elementwise kernels."""

import torch


def kernel(x, out):
    torch.add(x, x, out=out)
    out.add_(1)
