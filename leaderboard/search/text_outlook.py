"""Forecasts of kernels that are text: a Gaussian process over how alike their sources are.

Kernels alike in text are alike in time, so far as they are. Nothing is learned from elsewhere; with few
measurements the forecasts are wide, and the sieve measures what it is least sure of.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from leaderboard.search.outlook import Seen, View, most_telling
from surrogate.contract.request import KernelText
from surrogate.features.similarity import similarities

Floats = NDArray[np.float64]

#: Octaves that kernels of one task differ by, before any was measured.
_SPREAD = 1.5
#: Octaves that kernels of equal normalised text may differ by: numbers are one token to the measure.
_NOISE = 0.35
#: Kernels looked at: solving grows with their cube.
_MOST_SEEN = 400
#: How fast likeness stops telling: its power.
_POWER = 2.0


class TextOutlook:
    name = "text"
    version = "2"

    def look(self, seen: Sequence[Seen], kernels: Sequence[KernelText]) -> View:
        seen = most_telling(seen, _MOST_SEEN)
        worked = [item for item in seen if item.log2_seconds is not None]
        times = np.array([item.log2_seconds for item in worked], dtype=np.float64)
        # Kernels at random are slower than the best: the mean is the prior's, and few outliers move a median.
        centre = float(np.median(times)) if len(times) else 0.0
        spread = max(float(times.std()), _SPREAD) if len(times) else _SPREAD
        own = _likeness(kernels, kernels) * spread**2
        if not worked:
            deviations = np.sqrt(np.diag(own) + _NOISE**2)
            return View(np.full(len(kernels), centre), deviations, self._p_works(seen, kernels))
        known = [item.kernel for item in worked]
        across = _likeness(kernels, known) * spread**2
        among = _likeness(known, known) * spread**2 + _NOISE**2 * np.eye(len(known))
        # Estimated likeness is no exact kernel: what a negative eigenvalue leaves is cut off below.
        weights = np.linalg.lstsq(among, across.T, rcond=1e-6)[0]
        mean = centre + weights.T @ (times - centre)
        covariance = own - across @ weights
        variance = np.maximum(np.diag(covariance), (0.1 * spread) ** 2) + _NOISE**2

        def of(index: int) -> Floats:
            row: Floats = covariance[index].copy()
            row[index] = variance[index]
            return row

        return View(mean, np.sqrt(variance), self._p_works(seen, kernels), of, _NOISE**2)

    def _p_works(self, seen: Sequence[Seen], kernels: Sequence[KernelText]) -> Floats:
        """Counted over measured kernels by how alike they are, two thirds working while nothing is known."""
        if not seen:
            return np.full(len(kernels), 2 / 3)
        near = _likeness(kernels, [item.kernel for item in seen])
        works = np.array([item.log2_seconds is not None for item in seen], dtype=np.float64)
        share: Floats = (near @ works + 2) / (near.sum(axis=1) + 3)
        return share


def _likeness(some: Sequence[KernelText], others: Sequence[KernelText]) -> Floats:
    if not some or not others:
        return np.zeros((len(some), len(others)))
    return np.stack([similarities(kernel, others) for kernel in some]) ** _POWER
