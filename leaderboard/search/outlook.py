"""What a search asks of a surrogate: how fast will these kernels be, given what was measured so far?"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from surrogate.contract.request import KernelText

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Seen:
    """A measured kernel; ``log2_seconds`` is None when it failed."""

    kernel: KernelText
    log2_seconds: float | None


def most_telling(seen: Sequence[Seen], most: int) -> list[Seen]:
    """At most so many of them, in their order: the newest half, and of those before it the fastest.

    What was learned of the best must not be forgotten for its age.
    """
    if len(seen) <= most:
        return list(seen)
    first = len(seen) - most // 2
    older = sorted(range(first), key=lambda place: _time(seen[place]))[: most - most // 2]
    return [seen[place] for place in sorted(older)] + list(seen[first:])


def _time(item: Seen) -> float:
    return math.inf if item.log2_seconds is None else item.log2_seconds


@dataclass(frozen=True)
class View:
    """Forecasts of several kernels: log2 seconds as normal distributions, and P(it works at all).

    ``covariance`` gives, for one kernel, the forecast covariance with each of them; without it the kernels
    count as independent.
    """

    mean: Floats
    spread: Floats
    p_works: Floats
    covariance: Callable[[int], Floats] | None = None
    #: Variance of a measurement itself, octaves².
    noise: float = 0.0

    def tempered(self, temperature: float) -> "View":
        """The view with every variance multiplied by ``temperature``: more doubt, or less."""
        if temperature == 1.0:
            return self
        spread, noise = self.spread * math.sqrt(temperature), self.noise * temperature
        if self.covariance is None:
            return replace(self, spread=spread, noise=noise)

        def covariance(index: int, before: Callable[[int], Floats] = self.covariance) -> Floats:
            return temperature * before(index)

        return replace(self, spread=spread, covariance=covariance, noise=noise)

    def believing(self, index: int) -> "View":
        """The view if ``index`` were measured and came out as forecast: less doubt about what is like it."""
        variance = self.spread**2
        if self.covariance is None:
            variance[index] = 0.0
            return replace(self, spread=np.sqrt(variance))
        mine = self.covariance(index)
        total = max(float(mine[index]) + self.noise, 1e-12)

        def covariance(other: int, before: Callable[[int], Floats] = self.covariance) -> Floats:
            theirs = before(other)
            less: Floats = theirs - theirs[index] * mine / total
            return less

        left = np.maximum(variance - mine**2 / total, 1e-12)
        return replace(self, spread=np.sqrt(left), covariance=covariance)


class Outlook(Protocol):
    """``look`` never raises for anything a kernel holds: what it does not understand gets a wide forecast."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def look(self, seen: Sequence[Seen], kernels: Sequence[KernelText]) -> View: ...
