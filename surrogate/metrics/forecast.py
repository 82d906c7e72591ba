"""Scores of distributions over bins against measured log2 speed-ups. Lower is better unless said."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surrogate.contract import bins

Floats = NDArray[np.float64]

#: A probability of exactly zero for what then happens would make the log score infinite and hide all else.
FLOOR = 1e-6
ECE_BINS = 10
_MIDPOINTS = np.array([bins.midpoint(index) for index in range(bins.COUNT)])


def forecast_metrics(probabilities: Sequence[Sequence[float]], truths: Sequence[float]) -> dict[str, float]:
    """Every score of this module. ``probabilities`` is rows × bins, ``truths`` log2 speed-ups.

    ``exact_bin``, ``within_one_bin`` and ``interval_80_coverage`` are shares of rows; ``brier_half`` runs
    from 0 to 1, half of the sum of squares; ``crps`` from 0 to 1.
    """
    masses = np.asarray(probabilities, dtype=np.float64)
    actual = np.asarray(truths, dtype=np.float64)
    if masses.shape != (len(actual), bins.COUNT):
        raise ValueError(f"{masses.shape} probabilities for {len(actual)} rows and {bins.COUNT} bins")
    if not len(actual):
        raise ValueError("no rows to score")
    labels = np.array([bins.label_log2(value) for value in actual])
    predicted = masses.argmax(axis=1)
    return {
        "exact_bin": float((predicted == labels).mean()),
        "within_one_bin": float((abs(predicted - labels) <= 1).mean()),
        "mae_log2": float(abs(masses @ _MIDPOINTS - actual).mean()),
        "crps": float(crps(masses, labels).mean()),
        "brier_half": float(brier_half(masses, labels).mean()),
        "nll": float(nll(masses, labels).mean()),
        "ece": expected_calibration_error(masses.max(axis=1), predicted == labels),
        "interval_80_coverage": float(interval_hits(masses, actual, 0.8).mean()),
    }


def crps(masses: Floats, labels: NDArray[Any]) -> Floats:
    """Ranked probability score per row: squared distance of the two step functions, over the gaps."""
    happened = np.arange(bins.COUNT)[None, :] >= labels[:, None]
    gaps = (masses.cumsum(axis=1) - happened)[:, :-1]
    score: Floats = (gaps**2).sum(axis=1) / (bins.COUNT - 1)
    return score


def brier_half(masses: Floats, labels: NDArray[Any]) -> Floats:
    """Half the squared distance to the one-hot truth, per row: 0 best, 1 worst."""
    score: Floats = ((masses - np.eye(bins.COUNT)[labels]) ** 2).sum(axis=1) / 2
    return score


def nll(masses: Floats, labels: NDArray[Any]) -> Floats:
    """Negative natural logarithm of the mass of the bin that happened, at least ``FLOOR``."""
    score: Floats = -np.log(np.maximum(masses[np.arange(len(labels)), labels], FLOOR))
    return score


def expected_calibration_error(confidence: Floats, hit: NDArray[Any], count: int = ECE_BINS) -> float:
    """Mean |share of hits − mean confidence| over ``count`` groups of equal mass, by confidence."""
    points = reliability(confidence, hit, count)
    return float(sum(rows * abs(hits - stated) for stated, hits, rows in points))


def reliability(
    confidence: Floats, hit: NDArray[Any], count: int = ECE_BINS
) -> list[tuple[float, float, float]]:
    """Points of the reliability diagram: (mean confidence, share of hits, share of rows), by confidence.

    Rows of equal confidence stay in one group, so that the order of the rows cannot change the result.
    """
    values, group = np.unique(np.asarray(confidence, dtype=np.float64), return_inverse=True)
    sizes = np.bincount(group)
    hits = np.bincount(group, weights=np.asarray(hit, dtype=np.float64))
    rank = (sizes.cumsum() - sizes / 2) / len(group)  # where the middle of a group of equals stands
    slot = np.minimum((rank * count).astype(int), count - 1)
    points = []
    for index in range(count):
        chosen = slot == index
        rows = sizes[chosen].sum()
        if rows:
            stated = float((values[chosen] * sizes[chosen]).sum() / rows)
            points.append((stated, float(hits[chosen].sum() / rows), float(rows / len(group))))
    return points


def interval_hits(masses: Floats, actual: Floats, share: float) -> NDArray[np.bool_]:
    """Whether each row's truth lies in its central interval; ``share`` of them should.

    The open bins have no end: a truth in the outermost bin counts as inside when the interval ends there.
    """
    tail = (1 - share) / 2
    inside = []
    for row, value in zip(masses, actual, strict=True):
        low, high = bins.quantile(row, tail), bins.quantile(row, 1 - tail)
        inside.append((low <= value or low < bins.EDGES[0]) and (value <= high or high > bins.EDGES[-1]))
    return np.array(inside, dtype=bool)
