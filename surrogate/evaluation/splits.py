"""Which records teach and which examine. Nothing, and nothing nearly equal, may be on both sides."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from surrogate.contract.request import KernelText
from surrogate.datasets.record import Record
from surrogate.features.similarity import NEAR_DUPLICATE, kernel_digest, similarities

Split = Literal["task", "device", "random"]
SPLITS: tuple[Split, ...] = get_args(Split)
FOLDS = 5


@dataclass(frozen=True)
class Fold:
    """``dropped`` training records were near-duplicates of examined ones."""

    name: str
    train: tuple[Record, ...]
    test: tuple[Record, ...]
    dropped: int


def folds(records: Sequence[Record], split: Split) -> list[Fold]:
    """Every record is examined exactly once.

    ``task``: five groups of tasks; ``device``: one fold per device; ``random``: five groups of pairs, the
    optimistic bound. A pair and its mirror image always stay together. Raises ValueError when there is too
    little to split.
    """
    parts = _parts(records, split)
    if split != "device":
        group = {part: place % FOLDS for place, part in enumerate(sorted(set(parts), key=_hash))}
        parts = [f"{split} {group[part]}" for part in parts]
    names = sorted(set(parts))
    if len(names) < 2:
        others = " or ".join(f"--split {other}" for other in SPLITS if other != split)
        raise ValueError(f"the records have a single {split}: they cannot be split by it; try {others}")
    near = None if split == "device" else _NearDuplicates(records, same_device=split == "random")
    made = []
    for name in names:
        test = [place for place, part in enumerate(parts) if part == name]
        train = [place for place, part in enumerate(parts) if part != name]
        # Between devices, equal kernels are the point: what is known of a kernel elsewhere may be used.
        kept = near.without(train, test) if near else train
        made.append(
            Fold(
                name,
                tuple(records[place] for place in kept),
                tuple(records[place] for place in test),
                len(train) - len(kept),
            )
        )
    return made


def _parts(records: Sequence[Record], split: Split) -> list[str]:
    """What must stay together, per record."""
    if split == "device":
        return [item.device for item in records]
    if split == "random":
        return [item.pair for item in records]
    # Tasks whose references are nearly equal are one task under several names.
    references = {item.task: item.outcome.request.task.reference for item in records}
    names = sorted(references)
    texts = [KernelText("python", references[name]) for name in names]
    leader = {name: name for name in names}
    for place, name in enumerate(names):
        if references[name]:
            alike = similarities(texts[place], texts[: place + 1]) >= NEAR_DUPLICATE
            first = leader[names[int(alike.argmax())]]
            for other in np.flatnonzero(alike):
                old = leader[names[other]]
                leader.update({key: first for key, value in leader.items() if value == old})
    return [leader[item.task] for item in records]


class _NearDuplicates:
    """Finds training pairs whose two sides are both nearly equal to the two sides of an examined pair."""

    def __init__(self, records: Sequence[Record], *, same_device: bool) -> None:
        places: dict[str, int] = {}
        texts: list[KernelText] = []
        sides = []
        for item in records:
            request = item.outcome.request
            anchor = KernelText(request.anchor.language, request.anchor.source, request.anchor.parameters)
            pair = []
            for text in (request.kernel, anchor):
                digest = kernel_digest(text)
                if digest not in places:
                    places[digest] = len(texts)
                    texts.append(text)
                pair.append(places[digest])
            sides.append(pair)
        self._sides: NDArray[np.int64] = np.array(sides)
        self._near = np.stack([similarities(text, texts) >= NEAR_DUPLICATE for text in texts])
        self._devices = np.array([item.device for item in records]) if same_device else None

    def without(self, train: list[int], test: list[int]) -> list[int]:
        examined = self._sides[test]
        kept = []
        for place in train:
            kernel, anchor = self._sides[place]
            straight = self._near[kernel, examined[:, 0]] & self._near[anchor, examined[:, 1]]
            mirrored = self._near[kernel, examined[:, 1]] & self._near[anchor, examined[:, 0]]
            alike = straight | mirrored
            if self._devices is not None:
                alike &= self._devices[test] == self._devices[place]
            if not alike.any():
                kept.append(place)
        return kept


def _hash(text: str) -> str:
    """A fixed order that has nothing to do with the names."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
