"""Fills the output it is given."""


def kernel(x, out):
    out.copy_(x).mul_(2).add_(1)
