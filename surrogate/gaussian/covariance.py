"""How alike two kernels are expected to be: by settings, and by what they took on other devices."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Standard deviation of the level that all kernels of a device share, octaves: unknown before measuring.
LEVEL = 3.0


@dataclass(frozen=True)
class Points:
    """Kernels, a row each.

    ``settings`` has a column per parameter, each scaled to lie between 0 and 1. ``elsewhere`` has a column
    per other device, octaves slower than the best one there; finite everywhere.
    """

    settings: Floats
    elsewhere: Floats

    def __len__(self) -> int:
        return len(self.settings)

    def take(self, rows: NDArray[np.int64]) -> "Points":
        return Points(self.settings[rows], self.elsewhere[rows])

    @property
    def expected(self) -> Floats:
        """The mean over the other devices: what is believed before anything is measured here."""
        if not self.elsewhere.shape[1]:
            return np.zeros(len(self))
        mean: Floats = self.elsewhere.mean(axis=1)
        return mean


@dataclass(frozen=True)
class Scales:
    """How far things may differ from the mean over the other devices. Standard deviations in octaves.

    ``weight`` is that of each device's say, as a departure from equal says; ``local`` of a rough function of
    the settings; ``warp`` of a rough function of the times elsewhere; ``noise`` of a measurement. ``lengths``
    are those of the settings and ``warp_length`` that of the times elsewhere, over which likeness fades.
    """

    weight: float = 0.3
    local: float = 0.6
    warp: float = 0.5
    warp_length: float = 2.0
    noise: float = 0.1
    lengths: tuple[float, ...] = ()

    def to_vector(self) -> Floats:
        head = (self.weight, self.local, self.warp, self.warp_length, self.noise)
        logs: Floats = np.log(np.array(head + self.lengths))
        return logs

    @classmethod
    def from_vector(cls, logs: Floats) -> "Scales":
        weight, local, warp, warp_length, noise, *lengths = np.exp(logs).tolist()
        return cls(weight, local, warp, warp_length, noise, tuple(lengths))


def likeness(left: Floats, right: Floats, lengths: Floats | float) -> Floats:
    """exp(−Σ |difference| / length) of each row of ``left`` with each of ``right``: 1 for equal rows."""
    distance = np.zeros((len(left), len(right)))
    widths = np.broadcast_to(lengths, (left.shape[1],))
    for column, width in enumerate(widths.tolist()):  # a column at a time, or large pools fill the memory
        distance += abs(left[:, column, None] - right[None, :, column]) / width
    result: Floats = np.exp(-distance)
    return result


def covariance(left: Points, right: Points, scales: Scales) -> Floats:
    """Prior covariance of the departures from what is expected, of ``left`` with ``right``."""
    total = np.full((len(left), len(right)), LEVEL**2)
    total += scales.local**2 * likeness(left.settings, right.settings, np.array(scales.lengths))
    if left.elsewhere.shape[1]:
        total += scales.weight**2 * (left.elsewhere @ right.elsewhere.T)
        total += scales.warp**2 * likeness(left.elsewhere, right.elsewhere, scales.warp_length)
    return total


def variance(points: Points, scales: Scales) -> Floats:
    """The diagonal of ``covariance(points, points)``."""
    total = np.full(len(points), LEVEL**2 + scales.local**2)
    if points.elsewhere.shape[1]:
        total += scales.weight**2 * (points.elsewhere**2).sum(axis=1) + scales.warp**2
    return total
