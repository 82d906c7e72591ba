"""Fewer points of the same picture: of every stretch the extremes are kept, so that no outlier is lost."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from leaderboard.search.kinds import Kind

#: Points of one kind that are drawn singly; of more, two stand for each stretch.
MOST_SINGLE = 600
_STRETCHES = 250


@dataclass(frozen=True)
class Point:
    """A candidate in a chart; ``seconds`` measured or else forecast, None where there is neither."""

    number: int
    kind: Kind
    seconds: float | None
    forecast: float | None

    @property
    def height(self) -> float | None:
        return self.forecast if self.seconds is None else self.seconds


def thinned(points: Iterable[Point]) -> list[Point]:
    """At most MOST_SINGLE points of each kind, in the order of numbers."""
    kinds: dict[Kind, list[Point]] = {}
    for point in points:
        kinds.setdefault(point.kind, []).append(point)
    kept = [point for group in kinds.values() for point in _thinned(group)]
    return sorted(kept, key=lambda point: point.number)


def _thinned(points: Sequence[Point]) -> list[Point]:
    if len(points) <= MOST_SINGLE:
        return list(points)
    first, last = min(p.number for p in points), max(p.number for p in points)
    width = (last - first + 1) / _STRETCHES
    lowest: dict[int, Point] = {}
    highest: dict[int, Point] = {}
    for point in points:
        stretch, height = int((point.number - first) / width), point.height
        if height is None:
            lowest.setdefault(stretch, point)
            continue
        below, above = lowest.get(stretch), highest.get(stretch)
        if below is None or below.height is None or height < below.height:
            lowest[stretch] = point
        if above is None or above.height is None or height > above.height:
            highest[stretch] = point
    return list({point.number: point for point in [*lowest.values(), *highest.values()]}.values())
