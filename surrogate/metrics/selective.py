"""What confidence is worth: does a forecaster know when it is wrong? Rows of equal confidence are taken in a
random order and the expected value is given, so that no metric depends on how rows happen to be sorted."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

COVERAGES = (0.2, 0.5, 0.8)


def selective_metrics(confidence: Sequence[float], losses: Sequence[float]) -> dict[str, float | None]:
    """Every score of this module; ``losses`` are 0/1 or any non-negative number, one a row.

    ``auroc`` takes a loss of at most 0 for right and is None when all rows are right or all wrong.
    """
    optimal = aurc([-loss for loss in losses], losses)
    area = aurc(confidence, losses)
    scores: dict[str, float | None] = {
        "auroc": auroc(confidence, [loss <= 0 for loss in losses]),
        "aurc": area,
        "e_aurc": area - optimal,
        "augrc": augrc(confidence, losses),
    }
    for coverage in COVERAGES:
        scores[f"risk_at_{round(coverage * 100)}"] = risk_at(confidence, losses, coverage)
    return scores


def auroc(confidence: ArrayLike, right: ArrayLike) -> float | None:
    """P(a right row has more confidence than a wrong one), ties counting half; None with one kind only."""
    values = np.asarray(confidence, dtype=np.float64)
    correct = np.asarray(right, dtype=bool)
    good, bad = int(correct.sum()), int((~correct).sum())
    if not good or not bad:
        return None
    return float((average_ranks(values)[correct].sum() - good * (good + 1) / 2) / (good * bad))


def risk_coverage(confidence: ArrayLike, losses: ArrayLike) -> tuple[Floats, Floats]:
    """(coverage, risk): mean loss of the most confident share, for shares 1/n, 2/n … 1."""
    expected = _by_confidence(confidence, losses)
    count = np.arange(1, len(expected) + 1)
    return count / len(expected), expected.cumsum() / count


def risk_at(confidence: ArrayLike, losses: ArrayLike, coverage: float) -> float:
    """Mean loss of the most confident ``coverage`` of the rows, at least one row."""
    _, risk = risk_coverage(confidence, losses)
    return float(risk[max(1, round(coverage * len(risk))) - 1])


def aurc(confidence: ArrayLike, losses: ArrayLike) -> float:
    """Area under the risk–coverage curve by trapezoids, its first value held down to coverage 0."""
    coverage, risk = risk_coverage(confidence, losses)
    return float(np.trapezoid(np.concatenate(([risk[0]], risk)), np.concatenate(([0.0], coverage))))


def augrc(confidence: ArrayLike, losses: ArrayLike) -> float:
    """Area under the generalised risk: the loss of accepted rows over the count of *all* rows."""
    coverage, risk = risk_coverage(confidence, losses)
    generalised = np.concatenate(([0.0], coverage * risk))
    return float(np.trapezoid(generalised, np.concatenate(([0.0], coverage))))


def set_regret(
    confidence: ArrayLike, predicted: ArrayLike, actual: ArrayLike, measured_share: float
) -> float:
    """Octaves lost by trusting forecasts: the least confident share is measured, the rest believed.

    The kernel with the highest known or believed log2 speed-up is chosen; the regret is how far its true
    value lies below the best of the set. Zero is best.
    """
    sure = np.asarray(confidence, dtype=np.float64)
    truth = np.asarray(actual, dtype=np.float64)
    believed = np.array(predicted, dtype=np.float64)
    measured = np.argsort(sure, kind="stable")[: round(measured_share * len(sure))]
    believed[measured] = truth[measured]
    return float(truth.max() - truth[int(believed.argmax())])


def average_ranks(values: ArrayLike) -> Floats:
    """Ranks from 1, equals sharing the mean of theirs."""
    _, group, sizes = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    last = sizes.cumsum()
    ranks: Floats = (last - (sizes - 1) / 2)[group]
    return ranks


def _by_confidence(confidence: ArrayLike, losses: ArrayLike) -> Floats:
    """Expected loss at each place of the order by falling confidence."""
    values = np.asarray(confidence, dtype=np.float64)
    loss = np.asarray(losses, dtype=np.float64)
    if not len(values) or len(values) != len(loss):
        raise ValueError(f"{len(values)} confidences for {len(loss)} losses")
    _, group, sizes = np.unique(-values, return_inverse=True, return_counts=True)
    means = np.bincount(group, weights=loss) / sizes
    expected: Floats = np.repeat(means, sizes)
    return expected
