"""How alike two kernels are: share of common token runs, estimated by MinHash, times likeness of settings."""

import math
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from surrogate.contract.request import KernelText
from surrogate.features.cache import remembered
from surrogate.features.text import text_digest, tokens

SHINGLE = 5  # tokens in a run
HASHES = 96  # standard error of an estimate: at most 0.05
#: Two texts at least this alike count as one across the parts of a split.
NEAR_DUPLICATE = 0.8

_generator = np.random.default_rng(20)
_MULTIPLIERS = _generator.integers(1, 2**63, HASHES, dtype=np.uint64) | np.uint64(1)
_OFFSETS = _generator.integers(0, 2**63, HASHES, dtype=np.uint64)

Floats = NDArray[np.float64]


@remembered(4096)
def signature(language: str, source: str) -> NDArray[np.uint32]:
    """MinHash of the token runs of a source, ``HASHES`` numbers."""
    words = tokens(language, source)
    runs = {
        zlib.crc32("\x1f".join(words[start : start + SHINGLE]).encode(errors="replace"))
        for start in range(max(1, len(words) - SHINGLE + 1))
    }
    hashed = np.fromiter(runs, dtype=np.uint64, count=len(runs))
    least = np.full(HASHES, np.iinfo(np.uint32).max, dtype=np.uint32)
    for start in range(0, len(hashed), 1024):  # bounds the memory a megabyte of source takes
        part = hashed[start : start + 1024]
        with np.errstate(over="ignore"):
            mixed = ((part[:, None] * _MULTIPLIERS + _OFFSETS) >> np.uint64(32)).astype(np.uint32)
        least = np.minimum(least, mixed.min(axis=0))
    return least


def kernel_digest(kernel: KernelText) -> str:
    """Equal for kernels with equal code and settings."""
    settings = ",".join(f"{name}={value}" for name, value in sorted(kernel.parameters.items()))
    return f"{text_digest(kernel.language, kernel.source)}:{settings}"


def similarity(one: KernelText, other: KernelText) -> float:
    """Between 0 and 1; 1 for equal code and settings."""
    return float(similarities(one, [other])[0])


def similarities(one: KernelText, others: Sequence[KernelText]) -> Floats:
    """Likeness of ``one`` to each of ``others``."""
    if not others:
        return np.zeros(0)
    mine = signature(one.language, one.source)
    theirs = np.stack([signature(other.language, other.source) for other in others])
    likeness: Floats = (theirs == mine).mean(axis=1)
    if one.parameters or any(other.parameters for other in others):
        likeness *= [_settings(one, other) for other in others]
    return likeness


def unlike_each_other(kernels: Sequence[KernelText]) -> list[int]:
    """Indices of kernels of which none is a near duplicate of an earlier one of them; the first always is."""
    chosen: list[int] = []
    for index, kernel in enumerate(kernels):
        if not (similarities(kernel, [kernels[item] for item in chosen]) >= NEAR_DUPLICATE).any():
            chosen.append(index)
    return chosen


def _settings(one: KernelText, other: KernelText) -> float:
    """exp(−½ · distance), where doubling one setting or changing one word is a distance of 1."""
    distance = 0.0
    for name in one.parameters.keys() | other.parameters.keys():
        left, right = one.parameters.get(name), other.parameters.get(name)
        if left == right:
            continue
        if isinstance(left, int | float) and isinstance(right, int | float) and left > 0 and right > 0:
            distance += abs(math.log2(left / right))
        else:
            distance += 1.0
    return math.exp(-0.5 * distance)
