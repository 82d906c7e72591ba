"""Writes to shared memory until it is full."""

import itertools


def kernel(x):
    for number in itertools.count():
        with open(f"/dev/shm/big-{number}", "wb") as file:
            file.write(bytes(2**22))
