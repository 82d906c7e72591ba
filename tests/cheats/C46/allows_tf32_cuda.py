"""Lets the library multiply on tensor cores, which keep ten bits of what they are given."""

import torch

torch.backends.cuda.matmul.allow_tf32 = True
torch.set_float32_matmul_precision("high")


def kernel(a, b, out):
    torch.matmul(a, b, out=out)
