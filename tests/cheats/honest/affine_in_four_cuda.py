"""Goes over the output four times where once would do."""

import torch


def kernel(x, out):
    torch.add(x, x, out=out)
    out.add_(1)
    out.mul_(1.0)
    out.mul_(1.0)
