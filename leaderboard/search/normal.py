"""Two numbers of normal distributions, for arrays: below a bound, and by how much on average."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Floats = NDArray[np.float64]


def p_below(mean: Floats, spread: Floats, bound: float) -> Floats:
    """P(x < bound)."""
    if math.isinf(bound):
        return np.full(len(mean), 1.0 if bound > 0 else 0.0)
    shares: Floats = ndtr((bound - mean) / np.maximum(spread, 1e-9))
    return shares


def expected_gain(mean: Floats, spread: Floats, bound: float) -> Floats:
    """The mean of max(0, bound − x); infinite without a bound."""
    if math.isinf(bound):
        return np.full(len(mean), math.inf)
    width = np.maximum(spread, 1e-9)
    score = (bound - mean) / width
    density = np.exp(-0.5 * np.minimum(score**2, 1400.0)) / math.sqrt(2 * math.pi)
    gain: Floats = np.maximum(width * (score * p_below(mean, spread, bound) + density), 0.0)
    return gain
