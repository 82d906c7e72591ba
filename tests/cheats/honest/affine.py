"""Returns a new tensor; the harness copies it."""


def kernel(x):
    return 2 * x + 1
