"""The innovation archive: verified kernels of this and related tasks, and whether they helped. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.search.llm.embedding import cosines
from surrogate.contract.request import KernelText

#: Examples of one prompt.
SHOWN = 2
#: Two examples whose vectors are this near teach the same.
_SAME = 0.9
_LONGEST_SOURCE = 12_000  # characters


@dataclass(frozen=True)
class Example:
    """A kernel that passed its task's tests. ``gain`` is octaves gained on its reference, if known."""

    key: str
    task: str
    reference: str
    kernel: KernelText
    note: str = ""
    gain: float = 0.0


@dataclass
class Use:
    """``helped`` of the ``shown`` times the kernel that was written then beat what it was built on."""

    shown: int = 0
    helped: int = 0

    @property
    def usefulness(self) -> float:
        """Between 0 and 1, a half while nothing is known."""
        return (self.helped + 1) / (self.shown + 2)


def retrieve(
    reference: str,
    language: str,
    near: KernelText | None,
    examples: Sequence[Example],
    uses: Mapping[str, Use],
    *,
    count: int = SHOWN,
) -> list[Example]:
    """The most promising examples: near in task or in code, useful so far, and unlike each other.

    ``near`` is the kernel that is to be improved. Only examples in ``language`` are considered.
    """
    fitting = [
        item
        for item in examples
        if item.kernel.language == language and len(item.kernel.source) <= _LONGEST_SOURCE
    ]
    if not fitting:
        return []
    texts = [KernelText("python", item.reference) for item in fitting]
    worth = np.maximum(cosines(KernelText("python", reference), texts), 0.0)
    if near is not None:
        worth = np.maximum(worth, cosines(near, [item.kernel for item in fitting]))
    # A tenth for being there: a task like no other still gets what was useful elsewhere.
    worth = (0.1 + worth) * [uses.get(item.key, Use()).usefulness for item in fitting]
    worth *= [1 + 0.25 * max(0.0, min(item.gain, 4.0)) for item in fitting]
    chosen: list[Example] = []
    for place in np.argsort(-worth, kind="stable").tolist():
        item = fitting[place]
        if chosen and cosines(item.kernel, [other.kernel for other in chosen]).max() > _SAME:
            continue
        chosen.append(item)
        if len(chosen) == count:
            break
    return chosen


def gained(log2_seconds: float | None, base: float | None) -> bool:
    """Whether a kernel beat what it was built on; ``base`` None: it was built on nothing."""
    return log2_seconds is not None and (base is None or log2_seconds < base)


def uses_of(shown: Iterable[tuple[Sequence[str], bool]]) -> dict[str, Use]:
    """``shown`` has, per measured kernel, the keys of its prompt's examples and whether it was a gain."""
    found: dict[str, Use] = {}
    for keys, helped in shown:
        for key in keys:
            use = found.setdefault(key, Use())
            use.shown += 1
            use.helped += helped
    return found
