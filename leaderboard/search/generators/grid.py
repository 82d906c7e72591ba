"""Walking a grid of settings: what the template and the recorded generator share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from leaderboard.search.generators.base import Ask, Operator, Parent, Proposal, digest_of, good_parent
from leaderboard.search.grid import Grid, Settings, settings_of
from surrogate.contract.request import KernelText


@dataclass(frozen=True)
class Mix:
    """Shares of the moves once there are parents; crossover gets what is left."""

    random: float = 0.25
    neighbour: float = 0.55
    recall: float = 0.05


class GridGenerator:
    """Proposes points of a grid as kernels.

    ``make`` turns settings into a kernel; ``kinds`` names the parameters that tell kinds of kernels apart.
    ``start`` is proposed first; ``recalled`` lists settings that were good elsewhere, best first. With
    ``points``, all allowed ones, a search that asks for as many gets every one of them.
    """

    def __init__(
        self,
        name: str,
        grid: Grid,
        make: Callable[[Settings], KernelText],
        *,
        kinds: Sequence[str],
        start: Settings | None = None,
        recalled: Sequence[Settings] = (),
        mix: Mix | None = None,
        points: Sequence[Settings] = (),
    ) -> None:
        self.name = name
        self._grid = grid
        self._make = make
        self._kinds = tuple(kinds)
        self._start = start
        self._recalled = recalled
        self._mix = mix or Mix()
        self._points = points
        self._digests: dict[Settings, str] = {}

    def propose(self, ask: Ask, random: Random) -> list[Proposal]:
        # Kernels that others wrote have no place on the grid: the starter, a person's.
        names = self._grid.parameters.keys()
        usable = [item for item in ask.parents if item.kernel.parameters.keys() == names]
        ask = Ask(ask.count, usable, ask.known)
        found: dict[str, Proposal] = {}
        if self._start is not None:
            self._add(found, ask, self._start, Operator.START)
        if self._points and all(self._digest(settings) in ask.known for settings in self._points):
            return []
        if self._points and ask.count >= len(self._points):
            for point in random.sample(self._points, len(self._points)):
                self._add(found, ask, point, Operator.RANDOM)
            return list(found.values())
        misses = 0
        # A small grid is known in the end; then most draws are misses, and the walk gives up.
        while len(found) < ask.count and misses < 40 + 8 * min(ask.count, 1000):
            operator, settings, parents = self._move(ask, random, found)
            if settings is None or not self._add(found, ask, settings, operator, parents):
                misses += 1
        return list(found.values())[: ask.count]

    def _move(
        self, ask: Ask, random: Random, found: dict[str, Proposal]
    ) -> tuple[Operator, Settings | None, tuple[Parent, ...]]:
        draw, mix = random.random(), self._mix
        if self._recalled and (draw < mix.recall or (not ask.parents and draw < 0.5)):
            return Operator.RECALL, self._recall(ask, found), ()
        draw = random.random()
        if not ask.parents or draw < mix.random:
            return Operator.RANDOM, self._grid.any(random), ()
        one = good_parent(ask.parents, random)
        if draw < mix.random + mix.neighbour or len(ask.parents) < 2:
            return Operator.NEIGHBOUR, self._grid.neighbour(_settings(one), random), (one,)
        other = good_parent([item for item in ask.parents if item is not one], random)
        point = self._grid.crossover(_settings(one), _settings(other), random)
        return Operator.CROSSOVER, point, (one, other)

    def _recall(self, ask: Ask, found: dict[str, Proposal]) -> Settings | None:
        for settings in self._recalled:
            if not self._grid.allows(settings):  # it ran elsewhere, and may not even exist here
                continue
            digest = self._digest(settings)
            if digest not in ask.known and digest not in found:
                return settings
        return None

    def _add(
        self,
        found: dict[str, Proposal],
        ask: Ask,
        settings: Settings,
        operator: Operator,
        parents: tuple[Parent, ...] = (),
    ) -> bool:
        digest = self._digest(settings)
        if digest in ask.known or digest in found:
            return False
        values = dict(settings)
        cell = tuple(f"{name}={values[name]}" for name in self._kinds)
        kernel = self._make(settings)
        found[digest] = Proposal(digest, kernel, operator, tuple(item.digest for item in parents), cell)
        return True

    def _digest(self, settings: Settings) -> str:
        if settings not in self._digests:
            self._digests[settings] = digest_of(self._make(settings))
        return self._digests[settings]


def _settings(parent: Parent) -> Settings:
    return settings_of(parent.kernel.parameters)
