"""Goes over the output it is given once."""

import torch


def kernel(x, out):
    torch.add(1, x, alpha=2, out=out)
