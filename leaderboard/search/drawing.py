"""What independent draws would have found: the band of a search's chart, from kernels that were measured."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.search.scoring import random_baseline

#: Draws that a band needs before it says anything.
FEWEST = 8
_LOW, _HIGH = 0.1, 0.9


@dataclass(frozen=True)
class Band:
    """Best seconds after 1, 2, … draws: 80 of 100 series of draws lie between ``low`` and ``high``."""

    low: list[float]
    expected: list[float]
    high: list[float]


def band(times: Sequence[float], failing: int, draws: int) -> Band | None:
    """Of draws without replacement from kernels that took ``times``, and ``failing`` ones that gave none.

    A failed draw counts as slow as the slowest. No more draws than there are kernels: past that the sample
    says nothing. None below FEWEST kernels.
    """
    size = len(times) + failing
    draws = min(draws, size)
    if not times or size < FEWEST or draws < 1:
        return None
    ascending = np.array(sorted(times) + [max(times)] * failing)
    lows, highs = [], []
    for count in range(1, draws + 1):
        beaten = _p_best_within(size, count)
        lows.append(float(ascending[int(np.searchsorted(beaten, _LOW))]))
        highs.append(float(ascending[int(np.searchsorted(beaten, _HIGH))]))
    return Band(lows, random_baseline(times, failing, draws).tolist(), highs)


def _p_best_within(size: int, count: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """P(the best of ``count`` draws is among the fastest 1, 2, … ``size`` kernels)."""
    missed = np.zeros(size)
    log_missed = 0.0
    for place in range(size):
        # Nobody of the fastest ``place + 1`` was drawn: each is left out in turn.
        left = size - place
        if left <= count:
            break
        log_missed += math.log((left - count) / left)
        missed[place] = math.exp(log_missed)
    return 1.0 - missed
