"""What a search is worth against random draws, where every answer is known."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def random_baseline(times: Sequence[float], failing: int, draws: int) -> Floats:
    """Expected best time after 1 … ``draws`` draws without replacement from the whole pool.

    ``times`` are those that worked; ``failing`` settings count as slow as the slowest of them. Exact:
    E[min of k] = Σ x₍ᵢ₎ · C(n − i, k − 1) / C(n, k) over times in ascending order.
    """
    ascending = np.array(sorted(times) + [max(times)] * failing)
    pool = len(ascending)
    expected = np.empty(draws)
    places = np.arange(1, pool + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, pool + 1)))])  # log k!
    for count in range(1, draws + 1):
        if count >= pool:
            expected[count - 1] = ascending[0]
            continue
        able = places[: pool - count + 1]  # later ones can't be the least of ``count``
        shares = np.exp(
            logs[pool - able]
            - logs[count - 1]
            - logs[pool - able - count + 1]
            - (logs[pool] - logs[count] - logs[pool - count])
        )
        expected[count - 1] = float(shares @ ascending[: len(able)])
    return expected


def performance(best_so_far: Floats, baseline: Floats, optimum: float) -> Floats:
    """Kernel Tuner's curve: 0 as good as random draws, 1 the optimum, negative worse than random."""
    room = np.maximum(baseline - optimum, optimum * 1e-9)
    curve: Floats = (baseline - best_so_far) / room
    return curve


def interval(values: Floats, *, resamples: int = 2000, seed: int = 0) -> tuple[float, float]:
    """95 % bootstrap interval of the mean of the rows' means; seeds are resampled within each row."""
    rows = np.atleast_2d(values)
    generator = np.random.default_rng(seed)
    draws = np.zeros(resamples)
    for row in rows:
        picks = generator.integers(0, len(row), (resamples, len(row)))
        draws += row[picks].mean(axis=1) / len(rows)
    low, high = np.quantile(draws, (0.025, 0.975))
    return float(low), float(high)


def best_so_far(seconds: Sequence[float | None], worst: float) -> Floats:
    """Best time after each measurement; ``worst`` while nothing has worked."""
    values = np.array([math.inf if item is None else item for item in seconds])
    curve: Floats = np.minimum(np.minimum.accumulate(values), worst)
    return curve
