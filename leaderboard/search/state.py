"""Where a search stands: what was considered, decided and measured. Rebuilt from its events, never stored."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from leaderboard.search.archive import Island, migrate
from leaderboard.search.generators.base import Parent, Proposal
from leaderboard.search.outlook import Seen
from leaderboard.search.sieve import Decision


@dataclass
class Candidate:
    """A considered kernel. ``decision`` is the newest one: a skip holds only as long as its forecast."""

    proposal: Proposal
    island: int
    generation: int
    audited: bool  # drawn to be measured even if it is to be skipped
    decision: Decision


@dataclass(frozen=True)
class Generation:
    """One step of a search: ``new`` candidates, and the decisions that changed of older ones, by digest."""

    number: int
    new: tuple[Candidate, ...]
    changed: dict[str, Decision] = field(default_factory=dict)

    @property
    def chosen(self) -> list[str]:
        """Digests of what is measured now, in no order of importance."""
        new = [item.proposal.digest for item in self.new if item.decision.chosen]
        return new + [digest for digest, decision in self.changed.items() if decision.chosen]


class SearchState:
    """Fold of the events: ``considered`` a generation, ``measured`` or ``dropped`` a candidate."""

    def __init__(self, islands: int, migrate_every: int) -> None:
        self.candidates: dict[str, Candidate] = {}
        #: log2 seconds of each measured candidate, None where it failed; in order of measuring.
        self.outcomes: dict[str, float | None] = {}
        self.in_flight: set[str] = set()
        self.dropped: set[str] = set()
        #: How often each was lost through our own fault; those that a person stopped since then are left out.
        self.lost: Counter[str] = Counter()
        self.islands = [Island() for _ in range(islands)]
        self.generations = 0
        self._migrate_every = migrate_every

    def consider(self, generation: Generation) -> None:
        for candidate in generation.new:
            self.candidates[candidate.proposal.digest] = candidate
            self.islands[candidate.island].count_children(candidate.proposal.parents)
        for digest, decision in generation.changed.items():
            self.candidates[digest].decision = decision
        self.in_flight.update(generation.chosen)
        self.dropped.difference_update(generation.chosen)  # measured once more
        self.generations = generation.number + 1
        if self.generations % self._migrate_every == 0:
            migrate(self.islands)

    def measure(self, digest: str, log2_seconds: float | None) -> None:
        """Take in an outcome; None for a kernel that failed. A second outcome of a candidate is ignored."""
        if digest in self.outcomes:
            return
        self.in_flight.discard(digest)
        self.outcomes[digest] = log2_seconds
        if log2_seconds is not None:
            candidate = self.candidates[digest]
            parent = Parent(digest, candidate.proposal.kernel, log2_seconds)
            self.islands[candidate.island].add(candidate.proposal.cell, parent)

    def drop(self, digest: str, *, lost: bool = False) -> None:
        """The candidate is not measured: a person stopped it, or its run was ``lost`` by our own fault."""
        self.in_flight.discard(digest)
        self.dropped.add(digest)
        if lost:
            self.lost[digest] += 1
        else:
            self.lost.pop(digest, None)

    @property
    def waiting(self) -> list[str]:
        """Considered, not measured, not under way: skipped ones too, whose forecasts may yet change."""
        gone = self.outcomes.keys() | self.in_flight | self.dropped
        return [digest for digest in self.candidates if digest not in gone]

    @property
    def best(self) -> tuple[str, float] | None:
        """(digest, log2 seconds) of the fastest. From the outcomes, so that no archive can lose it."""
        worked = [(digest, value) for digest, value in self.outcomes.items() if value is not None]
        return min(worked, key=lambda item: item[1], default=None)

    @property
    def incumbent(self) -> float:
        return self.best[1] if self.best else math.inf

    def seen(self) -> list[Seen]:
        return [
            Seen(self.candidates[digest].proposal.kernel, value) for digest, value in self.outcomes.items()
        ]

    def kernels(self, digests: Iterable[str]) -> list[Proposal]:
        return [self.candidates[digest].proposal for digest in digests]
