"""Islands of measured kernels: each keeps the best of every kind, and now and then tells its neighbour."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

from leaderboard.search.generators.base import Parent

#: Kernels of one island that are offered as parents.
_OFFERED = 8


@dataclass
class Elite:
    """The best kernel of its kind; ``children`` counts what was built on it, so that others get a turn."""

    parent: Parent
    children: int = 0


@dataclass
class Island:
    """``cells`` maps a kind of kernel to the best one of that kind."""

    cells: dict[tuple[str, ...], Elite] = field(default_factory=dict)

    def add(self, cell: tuple[str, ...], parent: Parent) -> bool:
        """Whether the kernel is the best of its kind by now."""
        elite = self.cells.get(cell)
        if elite is not None and elite.parent.log2_seconds <= parent.log2_seconds:
            return False
        self.cells[cell] = Elite(parent)
        return True

    def parents(self, random: Random) -> tuple[Parent, ...]:
        """A sample, the good ones likelier and those with many children less so; best first."""
        elites = sorted(self.cells.values(), key=lambda item: item.parent.log2_seconds)
        if not elites:
            return ()
        best = elites[0].parent.log2_seconds
        keyed = []
        for elite in elites:
            # Half as likely for every half octave slower. The exponential race draws without replacement.
            weight = 2 ** (-2 * (elite.parent.log2_seconds - best)) / (1 + elite.children)
            keyed.append((random.expovariate(1.0) / max(weight, 1e-12), elite.parent))
        drawn = [parent for _, parent in sorted(keyed, key=lambda item: item[0])[:_OFFERED]]
        return tuple(sorted(drawn, key=lambda parent: parent.log2_seconds))

    def count_children(self, digests: Iterable[str]) -> None:
        built_on = list(digests)
        for elite in self.cells.values():
            elite.children += built_on.count(elite.parent.digest)

    @property
    def best(self) -> float:
        """log2 seconds; infinite while nothing was measured."""
        return min((elite.parent.log2_seconds for elite in self.cells.values()), default=math.inf)


def migrate(islands: list[Island]) -> None:
    """Each island's best kernel becomes known to the next one, in a ring; nobody forgets anything."""
    leaders = [
        min(island.cells.items(), key=lambda item: item[1].parent.log2_seconds) if island.cells else None
        for island in islands
    ]
    for place, leader in enumerate(leaders):
        if leader is not None:
            islands[(place + 1) % len(islands)].add(leader[0], leader[1].parent)
