"""Waiting for something that another process does."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_for(what: str, look: Callable[[], T], seconds: float = 60.0, pause: float = 0.02) -> T:
    """The first true value of ``look``; AssertionError naming ``what`` once the deadline has passed.

    ``pause`` lies between two looks: longer where asking costs something.
    """
    end = time.monotonic() + seconds
    while True:
        value = look()
        if value:
            return value
        assert time.monotonic() < end, f"waited {seconds:.0f} s for {what}"
        time.sleep(pause)  # the interval of a poll, not an expectation
