"""What bringing the inputs of some slots takes, known before there is a submission. Pure."""

from collections.abc import Mapping

import numpy as np


class BringSeconds:
    """From ``known``: slots → seconds. For other counts on the straight line through them, as bytes are
    copied at one rate, also below and above all that are known: what that misses by is the same for batches
    of every length, so that no slope has it, but an intercept and a call by itself do. Nothing where nothing
    is known.
    """

    def __init__(self, known: Mapping[int, float]) -> None:
        self._rate, self._standing = 0.0, 0.0
        if len(known) == 1:
            (self._standing,) = known.values()
        elif known:
            rate, standing = np.polyfit(list(known), list(known.values()), 1)
            self._rate, self._standing = float(rate), float(standing)

    def of(self, slots: int) -> float:
        return max(0.0, self._standing + self._rate * slots)
