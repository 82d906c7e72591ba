"""The process itself: posterior of departures from the mean over other devices, given measurements."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from surrogate.gaussian.covariance import Points, Scales, covariance, variance

Floats = NDArray[np.float64]

#: Octaves above the best at which slowness stops to matter, and how much of what is above still counts.
_BEND, _ABOVE, _MOST = 3.0, 0.25, 4.0
_JITTER = 1e-8


def bent(octaves: Floats) -> Floats:
    """Octaves above the best, the slow end compressed: how slow bad kernels are says little of good ones."""
    over = np.minimum(octaves - _BEND, _MOST)
    result: Floats = np.where(octaves > _BEND, _BEND + _ABOVE * over, octaves)
    return result


def log_likelihood(points: Points, departures: Floats, scales: Scales) -> float:
    """Log marginal likelihood of ``departures``, up to a constant; minus infinity for impossible scales."""
    try:
        root = np.linalg.cholesky(_measured(points, scales))
    except np.linalg.LinAlgError:
        return -np.inf
    white = np.linalg.solve(root, departures)
    return float(-0.5 * (white @ white) - np.log(np.diag(root)).sum())


@dataclass(frozen=True)
class Posterior:
    """``mean`` in log2 seconds and ``variance`` of each point; ``covariance`` of one point with each."""

    mean: Floats
    variance: Floats
    covariance: Callable[[int], Floats]


class GaussianModel:
    """Fit on measured points, asked about others.

    ``scales`` come from the other devices; a few multiples of them are tried on the measurements themselves,
    because a device may be more unlike the others than these are unlike each other.
    """

    def __init__(self, points: Points, log2_seconds: Floats, scales: Scales) -> None:
        if not len(points):
            raise ValueError("a Gaussian process needs at least one measurement")
        self._points = points
        best = log2_seconds.min()
        departures = best + bent(log2_seconds - best) - points.expected
        self._level = float(departures.mean())
        self._departures = departures - self._level
        self.scales = self._adapted(scales)
        self._root = np.linalg.cholesky(_measured(points, self.scales))
        self._weights = np.linalg.solve(self._root, self._departures)

    def ask(self, points: Points) -> Posterior:
        cross = covariance(self._points, points, self.scales)
        told = np.linalg.solve(self._root, cross)
        mean = points.expected + self._level + told.T @ self._weights
        left = np.maximum(variance(points, self.scales) - (told**2).sum(axis=0), _JITTER)

        def with_each(index: int) -> Floats:
            prior = covariance(points.take(np.array([index])), points, self.scales)[0]
            posterior: Floats = prior - told[:, index] @ told
            return posterior

        return Posterior(mean, left, with_each)

    def _adapted(self, scales: Scales) -> Scales:
        best, found = -np.inf, scales
        for weight in (0.0, 0.7, 1.4):
            for local in (-0.5, 0.0, 0.5):
                tried = replace(
                    scales,
                    weight=scales.weight * float(np.exp(weight)),
                    local=scales.local * float(np.exp(local)),
                    warp=scales.warp * float(np.exp(local)),
                )
                score = log_likelihood(self._points, self._departures, tried) - 0.5 * (weight**2 + local**2)
                if score > best:
                    best, found = score, tried
        return found


def _measured(points: Points, scales: Scales) -> Floats:
    return covariance(points, points, scales) + (scales.noise**2 + _JITTER) * np.eye(len(points))
