"""Which kernels on a board are nearly the same text: copies under other names, numbers or comments. Pure.

A source is remembered by a sketch: the smallest hashes of its runs of tokens. Two sketches tell what share of
their runs two sources have in common, within about a tenth. Inside a run names count by the order in which
they appear, so that renaming changes nothing; names after a dot and keywords are the language's or a
library's, and stay.
"""

import hashlib
import keyword
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

from runners.contract.vocabulary import Language
from surrogate.features.text import tokens

T = TypeVar("T", bound=Hashable)

#: Tokens of a run, and hashes of a sketch.
_RUN, _KEPT = 8, 96
#: Share of runs in common from which two sources count as one kernel.
ALIKE = 0.75
# fmt: off
_C_WORDS = frozenset({
    "auto", "bool", "break", "case", "char", "const", "constexpr", "continue", "do", "double", "else",
    "extern", "float", "for", "if", "inline", "int", "int32_t", "int64_t", "long", "return", "short",
    "signed", "sizeof", "static", "struct", "switch", "template", "typename", "unsigned", "void",
    "while", "__global__", "__device__", "__shared__", "__restrict__", "threadIdx", "blockIdx",
    "blockDim", "gridDim",
})
# fmt: on
_PYTHON_WORDS = frozenset(keyword.kwlist)


def sketch(language: str, source: str) -> list[int]:
    """At most ``_KEPT`` numbers of 32 bits, ascending. Empty for a text shorter than a run."""
    words = tokens(language, source)
    known = _PYTHON_WORDS if language == Language.PYTHON else _C_WORDS
    fixed = [
        not (word[0].isalpha() or word[0] == "_") or word in known or (at > 0 and words[at - 1] == ".")
        for at, word in enumerate(words)
    ]
    hashes = {_hash(words[at : at + _RUN], fixed[at : at + _RUN]) for at in range(len(words) - _RUN + 1)}
    return sorted(hashes)[:_KEPT]


def alike(one: Sequence[int], two: Sequence[int]) -> float:
    """The share of runs in common, 0 to 1, of all that either source has."""
    union = sorted({*one, *two})[: max(len(one), len(two))]
    common = set(one) & set(two)
    return sum(number in common for number in union) / len(union) if union else 0.0


def originals(entries: Iterable[tuple[T, Hashable, Sequence[int]]]) -> dict[T, T]:
    """Of (key, entrant, sketch), oldest first: each that is like an earlier one of another, and which."""
    holding: defaultdict[int, list[int]] = defaultdict(list)  # number → indexes of those that have it
    seen: list[tuple[T, Hashable, Sequence[int]]] = []
    found: dict[T, T] = {}
    for key, entrant, numbers in entries:
        shared = Counter(index for number in numbers for index in holding[number])
        for index in sorted(shared):
            other, whose, theirs = seen[index]
            # Few numbers in common cannot be enough: most pairs are told apart by this alone.
            if whose != entrant and 2 * shared[index] >= len(numbers) and alike(numbers, theirs) >= ALIKE:
                found[key] = other
                break
        for number in numbers:
            holding[number].append(len(seen))
        seen.append((key, entrant, numbers))
    return found


def _hash(words: Sequence[str], fixed: Sequence[bool]) -> int:
    places: dict[str, str] = {}
    text = " ".join(
        word if stays else places.setdefault(word, f"@{len(places)}")
        for word, stays in zip(words, fixed, strict=True)
    )
    return int.from_bytes(hashlib.blake2b(text.encode(errors="replace"), digest_size=4).digest(), "big")
