"""Returns nothing to compare."""


def kernel(x):
    return []
