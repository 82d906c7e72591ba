"""What an order of measuring is worth: how soon is a good kernel found?"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

#: Shares of the pool after which the best found is reported.
SHARES = (0.01, 0.03, 0.05, 0.10)


def best_so_far(seconds_in_order: Sequence[float]) -> NDArray[np.float64]:
    """Best time after 1, 2, … measurements; failed ones are infinite and cost a measurement."""
    curve: NDArray[np.float64] = np.minimum.accumulate(np.asarray(seconds_in_order, dtype=np.float64))
    return curve


def measurements_of(share: float, pool: int) -> int:
    """How many measurements ``share`` of a pool is, rounded up, at least one."""
    return max(1, math.ceil(share * pool))


def found_over_best(seconds_in_order: Sequence[float], best: float, counts: Sequence[int]) -> list[float]:
    """Best found ÷ best of the pool after each of ``counts`` measurements: 1 is perfect."""
    curve = best_so_far(seconds_in_order)
    return [float(curve[min(count, len(curve)) - 1] / best) for count in counts]


def measurements_to_within(seconds_in_order: Sequence[float], best: float, factor: float) -> int | None:
    """Measurements until something at most ``factor`` × best is found; None if it never is."""
    good = np.flatnonzero(best_so_far(seconds_in_order) <= best * factor)
    return int(good[0]) + 1 if len(good) else None
