"""The bins of a forecast: intervals of log2(t_anchor / t_kernel), slowest first.

Prompt text, training labels and metrics all come from this one module, so they cannot disagree. A bin holds
its lower edge and not its upper one: a kernel exactly as fast as its anchor is in the first of the "not
slower" bins. Bins are narrow around the anchor, where the question "is it faster?" is decided.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from random import Random

#: Inner edges in octaves of speed-up; the first and the last bin are open.
EDGES: tuple[float, ...] = (-3.0, -2.0, -1.5, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
COUNT = len(EDGES) + 1
#: One capital letter per bin: the name it has in prompts and answers, one token for most language models.
LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:COUNT])
#: An open bin is taken to be this wide, in octaves, wherever a number must stand for it.
OPEN_WIDTH = 1.0


def label(ratio: float) -> int:
    """The bin of a speed-up t_anchor / t_kernel. Raises ValueError unless it is finite and above zero."""
    if not (math.isfinite(ratio) and ratio > 0):
        raise ValueError(f"a speed-up must be finite and above zero, not {ratio!r}")
    return label_log2(math.log2(ratio))


def label_log2(log2_ratio: float) -> int:
    """The bin of a log2 speed-up."""
    if math.isnan(log2_ratio):
        raise ValueError("a log2 speed-up must be a number")
    return bisect_right(EDGES, log2_ratio)


def bounds(index: int) -> tuple[float, float]:
    """Lower and upper edge in octaves, the open ends closed ``OPEN_WIDTH`` away."""
    _check(index)
    low = EDGES[index - 1] if index > 0 else EDGES[0] - OPEN_WIDTH
    high = EDGES[index] if index < len(EDGES) else EDGES[-1] + OPEN_WIDTH
    return low, high


def midpoint(index: int) -> float:
    """The log2 speed-up that stands for the bin."""
    low, high = bounds(index)
    return (low + high) / 2


def index_of(letter: str) -> int:
    """The bin named by ``letter``. Raises ValueError for any other text."""
    try:
        return LETTERS.index(letter)
    except ValueError:
        raise ValueError(f"{letter!r} names no bin; bins are {LETTERS[0]} to {LETTERS[-1]}") from None


def describe(index: int) -> str:
    """One line for prompts and tables: ``H: 1.0000 <= speed-up < 1.1892``."""
    _check(index)
    if index == 0:
        return f"{LETTERS[index]}: speed-up < {2 ** EDGES[0]:.4f}"
    if index == len(EDGES):
        return f"{LETTERS[index]}: {2 ** EDGES[-1]:.4f} <= speed-up"
    return f"{LETTERS[index]}: {2 ** EDGES[index - 1]:.4f} <= speed-up < {2 ** EDGES[index]:.4f}"


def prompt_table() -> str:
    """All bins, one a line, slowest first; speed-up is t_anchor / t_kernel."""
    return "\n".join(describe(index) for index in range(COUNT))


def cumulative(probabilities: Sequence[float], log2_ratio: float) -> float:
    """P(log2 speed-up < ``log2_ratio``), the mass of a bin spread evenly over it."""
    total = 0.0
    for index, mass in enumerate(probabilities):
        low, high = bounds(index)
        if log2_ratio >= high:
            total += mass
        elif log2_ratio > low:
            total += mass * (log2_ratio - low) / (high - low)
    return min(1.0, total)


def quantile(probabilities: Sequence[float], share: float) -> float:
    """The log2 speed-up below which ``share`` of the mass lies; inverse of ``cumulative``."""
    below = 0.0
    for index, mass in enumerate(probabilities):
        if mass > 0 and below + mass >= share:
            low, high = bounds(index)
            return low + (high - low) * max(0.0, share - below) / mass
        below += mass
    # Rounding left the sum a hair under ``share``: the upper end of the last bin with mass.
    last = max(index for index, mass in enumerate(probabilities) if mass > 0)
    return bounds(last)[1]


def mean(probabilities: Sequence[float]) -> float:
    """Expected log2 speed-up."""
    return sum(mass * midpoint(index) for index, mass in enumerate(probabilities))


def sample(probabilities: Sequence[float], random: Random) -> float:
    """One draw of the log2 speed-up."""
    return quantile(probabilities, random.random())


def one_hot(index: int) -> tuple[float, ...]:
    """All mass in one bin."""
    _check(index)
    return tuple(1.0 if other == index else 0.0 for other in range(COUNT))


def uniform() -> tuple[float, ...]:
    return (1.0 / COUNT,) * COUNT


def normal(location: float, spread: float) -> tuple[float, ...]:
    """The mass a normal distribution over log2 speed-up puts into each bin; ``spread`` > 0 in octaves."""
    if not spread > 0:
        raise ValueError(f"the spread of a distribution must be above zero, not {spread!r}")
    below = [0.5 * (1 + math.erf((edge - location) / (spread * math.sqrt(2)))) for edge in EDGES]
    padded = [0.0, *below, 1.0]
    return tuple(high - low for low, high in pairwise(padded))


def _check(index: int) -> None:
    if not 0 <= index < COUNT:
        raise ValueError(f"bin {index} does not exist; bins are 0 to {COUNT - 1}")
