"""Sources as vectors, without a model to download: signed hashes of runs of tokens, and their cosine.

A run of one to three tokens is hashed to a place and a sign; counts are damped, vectors have length 1.
Two sources of equal meaning in other words are far apart here: what this measures is the text, as written.
"""

import math
import re
import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from surrogate.contract.request import KernelText
from surrogate.features.cache import remembered
from surrogate.features.text import strip_comments, tokens

Floats = NDArray[np.float64]

DIMENSIONS = 1024
_LONGEST_RUN = 3
_NUMBER = re.compile(r"\b\d[\w.]*")


@remembered(2048)
def embed(language: str, source: str) -> Floats:
    """A vector of length 1. Comments and spacing don't count, and all numbers are one token."""
    words = tokens(language, source)
    runs = Counter(
        "\x1f".join(words[start : start + length])
        for length in range(1, _LONGEST_RUN + 1)
        for start in range(len(words) - length + 1)
    )
    vector = np.zeros(DIMENSIONS)
    for run, count in runs.items():
        hashed = zlib.crc32(run.encode(errors="replace"))
        vector[hashed % DIMENSIONS] += (1 if hashed >> 31 else -1) * (1 + math.log(count))
    length = float(np.linalg.norm(vector))
    found: Floats = vector / length if length else vector
    return found


def cosines(one: KernelText, others: Sequence[KernelText]) -> Floats:
    """Of ``one`` with each of ``others``: 1 for equal texts, about 0 for texts that share nothing."""
    if not others:
        return np.zeros(0)
    vectors = np.stack([embed(other.language, other.source) for other in others])
    found: Floats = vectors @ embed(one.language, one.source)
    return found


def numbers(kernel: KernelText) -> Counter[str]:
    """The numbers in a source, which its vector leaves out: sizes of tiles, factors of unrolling."""
    return Counter(_NUMBER.findall(strip_comments(kernel.language, kernel.source)))
