"""Periodic work of different pace in one loop."""

import time
from collections.abc import Callable, Mapping
from typing import Any

Work = Callable[[], Any]


class Rounds:
    """Called often; each of ``paces`` (work → seconds between two) is done when its time has come.

    One that fails keeps the others waiting for a round, and is tried again in the next.
    """

    def __init__(self, paces: Mapping[Work, float], clock: Callable[[], float] = time.monotonic) -> None:
        self._paces = paces
        self._clock = clock
        self._due: dict[Work, float] = {work: float("-inf") for work in paces}

    def __call__(self) -> None:
        for work, seconds in self._paces.items():
            if self._clock() >= self._due[work]:
                work()
                self._due[work] = self._clock() + seconds
