"""The same as a method, through a name of its own."""


def kernel(x):
    fast = x.softmax(-1)
    return fast
