"""Is the order right? Pairs that differ by less than noise have no order and are left out, counted."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surrogate.metrics.selective import average_ranks

#: Two times closer than 5 % are a tie, whatever their noise.
TIE_OCTAVES = math.log2(1.05)


@dataclass(frozen=True)
class PairCount:
    right: float  # a forecast that says "equal" of an ordered pair counts half
    pairs: int
    ties: int  # pairs left out because the measurement does not order them

    @property
    def accuracy(self) -> float | None:
        return self.right / self.pairs if self.pairs else None


def ties(octaves: ArrayLike, noise: ArrayLike) -> NDArray[np.bool_]:
    """Which differences the measurement does not order: below 5 %, or below twice their noise."""
    least = np.maximum(TIE_OCTAVES, 2 * np.asarray(noise, dtype=np.float64))
    return np.abs(np.asarray(octaves, dtype=np.float64)) < least


def against_anchor(predicted: ArrayLike, actual: ArrayLike, noise: ArrayLike) -> PairCount:
    """Each row is the pair (anchor, kernel): is the side of 1× right? All three in octaves."""
    guess, truth, spread = (np.asarray(item, dtype=np.float64) for item in (predicted, actual, noise))
    ordered = ~ties(truth, spread)
    right = np.where(guess == 0, 0.5, (guess > 0) == (truth > 0))[ordered]
    return PairCount(float(right.sum()), int(ordered.sum()), int((~ordered).sum()))


def within_set(predicted: ArrayLike, actual: ArrayLike, noise: ArrayLike) -> PairCount:
    """All pairs of kernels of one task and device, by their log2 speed-ups over one anchor."""
    guess, truth, spread = (np.asarray(item, dtype=np.float64) for item in (predicted, actual, noise))
    one, other = np.triu_indices(len(truth), k=1)
    difference = truth[one] - truth[other]
    ordered = ~ties(difference, np.hypot(spread[one], spread[other]))
    stated = (guess[one] - guess[other])[ordered]
    right = np.where(stated == 0, 0.5, (stated > 0) == (difference[ordered] > 0))
    return PairCount(float(right.sum()), int(ordered.sum()), int((~ordered).sum()))


def kendall(predicted: ArrayLike, actual: ArrayLike) -> float | None:
    """Kendall's τ-b, which corrects for equals; None when either side is constant."""
    guess, truth = np.asarray(predicted, dtype=np.float64), np.asarray(actual, dtype=np.float64)
    upper = np.triu_indices(len(truth), k=1)
    one = np.sign(guess[:, None] - guess[None, :])[upper]
    other = np.sign(truth[:, None] - truth[None, :])[upper]
    scale = math.sqrt(float((one != 0).sum()) * float((other != 0).sum()))
    return float((one * other).sum() / scale) if scale else None


def spearman(predicted: ArrayLike, actual: ArrayLike) -> float | None:
    """Pearson's correlation of average ranks; None when either side is constant."""
    one, other = average_ranks(predicted), average_ranks(actual)
    one, other = one - one.mean(), other - other.mean()
    scale = math.sqrt(float((one**2).sum() * (other**2).sum()))
    return float((one * other).sum() / scale) if scale else None
