"""What a loader returns: pairs of anchor and kernel with a measured ratio, and what was left out."""

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from surrogate.features.similarity import kernel_digest
from surrogate.forecasters.base import Outcome
from surrogate.history import anchor_digest


class DatasetError(ValueError):
    """A file cannot be read; the message names file and line."""


@dataclass(frozen=True)
class Record:
    """An outcome with the name of its unordered pair: a pair and its mirror image share it."""

    outcome: Outcome
    pair: str

    @property
    def task(self) -> str:
        return self.outcome.request.task.slug

    @property
    def device(self) -> str:
        return self.outcome.request.device.slug


@dataclass
class Dataset:
    """``counts`` says how many lines were read and why some gave no record."""

    records: list[Record] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def extend(self, other: "Dataset") -> None:
        self.records += other.records
        self.counts += other.counts


def record(outcome: Outcome) -> Record:
    request = outcome.request
    sides = sorted((anchor_digest(request.anchor), kernel_digest(request.kernel)))
    key = repr((request.task.slug, request.device.slug, *sides))
    return Record(outcome, hashlib.blake2b(key.encode(), digest_size=8).hexdigest())


def without_repeats(records: Iterable[Record], counts: Counter[str]) -> list[Record]:
    """One record per (task, device, anchor, kernel): the first; the others are counted as duplicates."""
    seen: set[tuple[str, ...]] = set()
    kept = []
    for item in records:
        request = item.outcome.request
        key = (item.task, item.device, anchor_digest(request.anchor), kernel_digest(request.kernel))
        if key in seen:
            counts["duplicates"] += 1
            continue
        seen.add(key)
        kept.append(item)
    return kept


def positive(document: Mapping[str, Any], key: str) -> float | None:
    """A finite number above zero, or None: published files hold strings and −1 where a time should be."""
    value = document.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value > 0 else None
