"""Writes until the disk is full."""


def kernel(x):
    with open("/tmp/big", "wb") as file:
        while True:
            file.write(bytes(2**20))
