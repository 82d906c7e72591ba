"""Multiplies with the library, in the precision that torch is found in."""

import torch


def kernel(a, b, out):
    torch.matmul(a, b, out=out)
