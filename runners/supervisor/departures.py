"""Values unlike those that a benchmark case is timed with, on the very shape that is timed.

Hidden cases are never as large as benchmark cases, and timed inputs have the case's own fill: a kernel that
branches on the size could be wrong for all other values just where it is timed. So a few batches of a ranked
run, which look like the others and give no time, hold one call whose input departs: wholly, by a fill that
the task allows; or in a few elements at random places, which a kernel that looks at a part of its input
misses.
"""

import random
import secrets
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from runners.contract.spec import Case, TaskSpec, TensorSpec
from runners.contract.vocabulary import CaseRole, DeviceKind

#: Fills whose values stand out among those of any other.
_STRONG = {"large", "heavy"}
#: Fills among whose equal values any other stands out.
_STEADY = {"constant", "zeros"}
_FEW = (2, 16)  # elements changed: the fewer, the more of an input must be read to find one
#: Drawn for them, so many that heavy tails show; of those the largest, the smallest and some others are kept.
_DRAWN, _CANDIDATES = 4096, 64
#: After each pair of batches, how likely one of a length follows that departs: nobody can know it is over.
_CHANCE = 1 / 16
_LEAST = 2  # batches of each length that depart in any case
#: Of the time for a case, how much may go into such batches beyond those.
_SHARE = 0.05


@dataclass(frozen=True)
class Departure:
    """One input with values of ``fill``: all of them, or ``few``."""

    tensor: TensorSpec
    fill: str
    few: bool

    def describe(self) -> str:
        few = "a few values of " if self.few else ""
        return f"while timed, with {few}input {self.tensor.name} drawn from {self.fill!r}"


class Departures:
    """Which batches of one benchmark case depart, and how. Without any when ``asked`` is false."""

    def __init__(
        self, spec: TaskSpec, case: Case, *, asked: bool, chance: random.Random | None = None
    ) -> None:
        self._chance = chance or secrets.SystemRandom()
        found = departures(spec, case) if asked else []
        kinds = [[item for item in found if item.few == few] for few in (True, False)]
        self._kinds = [kind for kind in kinds if kind]
        self._next: list[list[Departure]] = []
        self._done: Counter[int] = Counter()
        self._began = time.monotonic()
        self._spent = 0.0

    def after_a_pair(self, lengths: Sequence[int]) -> list[int]:
        """Lengths of the batches that shall follow a pair of ordinary ones of ``lengths``; mostly none."""
        if not self._kinds:
            return []
        affordable = self._spent < _SHARE * (time.monotonic() - self._began)
        left = [length for length in lengths if affordable or self._done[length] < _LEAST]
        return [length for length in self._chance.sample(left, len(left)) if self._draws_one()]

    def owed(self, lengths: Sequence[int]) -> list[int]:
        """Batches that must still depart, for when no more pairs follow."""
        if not self._kinds:
            return []
        left = [length for length in lengths for _ in range(_LEAST - self._done[length])]
        return self._chance.sample(left, len(left))

    def draw(self, length: int) -> Departure:
        """How a batch of ``length`` departs. Every kind comes up before one does again."""
        self._done[length] += 1
        if not self._next:
            self._next = self._chance.sample(self._kinds, len(self._kinds))
        return self._chance.choice(self._next.pop())

    def took(self, seconds: float) -> None:
        """Takes note of what a batch that departed cost."""
        self._spent += seconds

    def _draws_one(self) -> bool:
        return self._chance.random() < _CHANCE


def allowed_fills(spec: TaskSpec, kind: DeviceKind, tensor: TensorSpec) -> list[str]:
    """Fills that the task allows for an input: its list, else those of its test cases; its own among them."""
    models = spec.cases_for(kind, CaseRole.TEST)
    told = spec.hidden.fills.get(tensor.name) or [
        case.fills[tensor.name] for case in models if tensor.name in case.fills
    ]
    return sorted({tensor.fill, *told})


def departures(spec: TaskSpec, case: Case) -> list[Departure]:
    """Every way in which one input of ``case`` may depart."""
    found = []
    for tensor in spec.inputs:
        own = case.fills.get(tensor.name, tensor.fill)
        others = [fill for fill in allowed_fills(spec, case.device_kind, tensor) if fill != own]
        seen = [fill for fill in others if fill in _STRONG]
        if own in _STEADY:  # whatever varies is seen, and what does not says less
            seen = [fill for fill in others if fill not in _STEADY] or others
        found += [Departure(tensor, fill, few=True) for fill in seen]
        found += [Departure(tensor, fill, few=False) for fill in others]
    return found


def room_for(departure: Departure, place: torch.Tensor) -> torch.Tensor:
    """Memory for the values of a departure of ``place``, which has one axis: all, or some to choose from."""
    count = _DRAWN if departure.few else len(place)
    return torch.empty(count, dtype=place.dtype, device=place.device)


def candidates(departure: Departure, values: torch.Tensor) -> torch.Tensor:
    """What is kept of ``values`` for ``put``, whose time must not tell of a departure: all, or the largest,
    the smallest and some more of those to choose from.
    """
    if not departure.few:
        return values
    order = values.to(torch.float64).argsort()
    return torch.cat([values[order[[-1, 0]]], values[: _CANDIDATES - 2]])


def put(
    departure: Departure, place: torch.Tensor, values: torch.Tensor, chance: random.Random | None = None
) -> None:
    """Writes ``values`` to ``place``: all, or a few to random elements, among them the largest and the
    smallest.
    """
    if not departure.few:
        place.copy_(values)
        return
    chance = chance or secrets.SystemRandom()
    count = min(chance.randint(*_FEW), len(place))
    order = values.to(torch.float64).argsort().tolist()
    chosen = [order[-1], order[0], *chance.sample(order, count)][:count]
    places = chance.sample(range(len(place)), count)
    place[torch.tensor(places, device=place.device)] = values[torch.tensor(chosen, device=values.device)]
