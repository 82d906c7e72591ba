"""Tries an optional package, and times itself for its own log."""

import time

try:
    import a_package_that_may_be_missing as accelerated
except ImportError:
    accelerated = None


def kernel(x):
    start = time.perf_counter()
    result = 2 * x + 1
    if time.perf_counter() - start > 10:
        print("slow today")
    return result
