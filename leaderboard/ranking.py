"""The one ranking function: pages, API and exports all order a board with it. Pure, no database."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

T = TypeVar("T")

#: Standard deviations on either side that hold all of twenty equal entries apart from each other by chance 95
#: times of a hundred: half of what the range of twenty normal numbers stays below (5.01).
_REACH = 2.5


@dataclass(frozen=True)
class Entry(Generic[T]):
    """One measured score on a board. Times are seconds; ``item`` is carried through untouched.

    The interval is that of ``widened``.
    """

    entrant: Hashable  # whose it is; of each entrant only the best entry stands on the board
    is_baseline: bool  # baselines stand in the order without a rank
    seconds: float
    ci_low: float
    ci_high: float
    created_at: datetime
    item: T
    is_pending: bool = False  # not confirmed yet: stands in the order without a rank


@dataclass(frozen=True)
class Place(Generic[T]):
    """Where an entry stands. ``rank`` is None for baselines and pending ones; ``tied`` means that the rank is
    shared.
    """

    rank: int | None
    tied: bool
    entry: Entry[T]


def rank(entries: Iterable[Entry[T]]) -> list[Place[T]]:
    """The board, fastest first: the best entry of each entrant, with ranks.

    A pending entry takes nothing from anybody: it stands beside the best confirmed one of its entrant, and
    the ranks are what they would be without it. It is left out where its entrant has a faster confirmed one.

    An entry whose interval overlaps that of the leader of its group shares the leader's rank, as the
    measurements can't tell them apart. The entry after a group has rank 1 + number of ranked entries before.
    Equal times go to the earlier entry.
    """
    confirmed: set[Hashable] = set()
    pending: set[Hashable] = set()
    ordered: list[Entry[T]] = []
    for entry in sorted(entries, key=_order):
        if entry.entrant in confirmed or (entry.is_pending and entry.entrant in pending):
            continue
        (pending if entry.is_pending else confirmed).add(entry.entrant)
        ordered.append(entry)
    groups: list[list[Entry[T]]] = []
    for entry in ordered:
        if entry.is_baseline or entry.is_pending:
            continue
        if groups and _overlap(groups[-1][0], entry):
            groups[-1].append(entry)
        else:
            groups.append([entry])
    places: dict[Hashable, tuple[int, bool]] = {}
    before = 0
    for group in groups:
        for entry in group:
            places[entry.entrant] = (before + 1, len(group) > 1)
        before += len(group)
    unranked: tuple[None, bool] = (None, False)
    placed = [
        (entry, unranked if entry.is_pending else places.get(entry.entrant, unranked)) for entry in ordered
    ]
    return [Place(number, tied, entry) for entry, (number, tied) in placed]


def widened(seconds: float, ci_low: float, ci_high: float, noise: float | None) -> tuple[float, float]:
    """The interval (low, high) by which entries are told apart on a device of this ``noise``.

    A run's own 95 % interval knows nothing of what differs between two runs. ``noise`` is the coefficient of
    variation of equal runs; where 2.5 of it reach further than the interval, they take its place.
    """
    reach = 1 + _REACH * (noise or 0.0)
    return min(ci_low, seconds / reach), max(ci_high, seconds * reach)


def speedup(
    anchor: Mapping[str, float] | None,
    cases: Mapping[str, float],
    fallback: tuple[float, float] | None = None,
) -> float | None:
    """How many times faster than the anchor: geometric mean of anchor ÷ entry over the cases both have.

    Both map case names to seconds. Without a case in common the ratio of the ``fallback`` pair
    (anchor seconds, entry seconds) is taken; None when there is neither.
    """
    shared = [name for name in cases if anchor and anchor.get(name, 0) > 0 and cases[name] > 0]
    if anchor and shared:
        return geometric_mean([anchor[name] / cases[name] for name in shared])
    if fallback and fallback[1] > 0:
        return fallback[0] / fallback[1]
    return None


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive numbers; at least one is needed."""
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))


def _order(entry: Entry[T]) -> tuple[float, datetime]:
    return (entry.seconds, entry.created_at)


def _overlap(leader: Entry[T], entry: Entry[T]) -> bool:
    return entry.ci_low <= leader.ci_high and leader.ci_low <= entry.ci_high
