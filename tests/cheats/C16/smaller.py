"""Returns one row, which broadcasts against the rest."""


def kernel(x):
    return 2 * x[:1] + 1
