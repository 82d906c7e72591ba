"""A grid of settings and the moves on it: any point, a neighbour, a crossover of two."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

Value = float | str
#: Sorted by name, so that equal settings are equal tuples.
Settings = tuple[tuple[str, Value], ...]

#: Draws before a move gives up: most points of a constrained grid may be forbidden.
_TRIES = 60


def settings_of(values: Mapping[str, Value]) -> Settings:
    return tuple(sorted(values.items()))


@dataclass(frozen=True)
class Grid:
    """``parameters`` maps each name to its values, numbers in increasing order; ``allows`` forbids points."""

    parameters: Mapping[str, tuple[Value, ...]]
    allows: Callable[[Settings], bool] = lambda _: True

    @property
    def size(self) -> int:
        """Points, forbidden ones included."""
        total = 1
        for values in self.parameters.values():
            total *= len(values)
        return total

    def any(self, random: Random) -> Settings | None:
        """A point drawn evenly from the allowed ones; None when none was hit."""
        return self._first_allowed(
            lambda: {name: random.choice(values) for name, values in self.parameters.items()}
        )

    def neighbour(self, start: Settings, random: Random) -> Settings | None:
        """One parameter moved: a number to a value beside it, a word to any other. Now and then two."""
        names = [name for name, values in self.parameters.items() if len(values) > 1]
        if not names:
            return None

        def move() -> dict[str, Value]:
            changed = dict(start)
            for name in random.sample(names, 2 if random.random() < 0.3 and len(names) > 1 else 1):
                changed[name] = _beside(changed[name], self.parameters[name], random)
            return changed

        return self._first_allowed(move)

    def crossover(self, one: Settings, other: Settings, random: Random) -> Settings | None:
        """Each parameter from one parent or the other."""
        left, right = dict(one), dict(other)
        if left == right:
            return None
        return self._first_allowed(
            lambda: {name: (left if random.random() < 0.5 else right)[name] for name in self.parameters}
        )

    def _first_allowed(self, draw: Callable[[], Mapping[str, Value]]) -> Settings | None:
        for _ in range(_TRIES):
            point = settings_of(draw())
            if self.allows(point):
                return point
        return None


def _beside(value: Value, values: Sequence[Value], random: Random) -> Value:
    if isinstance(value, str) or len(values) <= 3:
        return random.choice([item for item in values if item != value] or [value])
    place = values.index(value)
    # Mostly the next value, now and then further: rough spaces have their good settings apart.
    step = 1 + (random.random() < 0.25) + (random.random() < 0.1)
    place += step if random.random() < 0.5 else -step
    return values[max(0, min(len(values) - 1, place))]
