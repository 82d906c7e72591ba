"""Forecasts of templated kernels: a Gaussian process over settings and over times on other devices."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from leaderboard.search.grid import Grid, Settings, Value, settings_of
from leaderboard.search.outlook import Seen, View, most_telling
from surrogate.contract.request import KernelText
from surrogate.gaussian.covariance import LEVEL, Points, Scales, likeness
from surrogate.gaussian.learning import learn_scales
from surrogate.gaussian.model import GaussianModel, bent

Floats = NDArray[np.float64]
#: Seconds by settings on one device; None where the kernel failed.
History = Mapping[Settings, float | None]

#: Kernels a device must have run before its times say anything.
_LEAST_KNOWN = 8
#: Octaves above the best that a failure elsewhere counts as.
_FAILED = 4.0
#: How far apart settings may be for a failure of one to say something about the other.
_FAILURE_LENGTH = 0.15
#: Settings that scales are learned from; of more, evenly spread ones.
_MOST_LEARNED = 4000
#: Measured kernels that times are forecast from: solving grows with their cube, and each step solves.
_MOST_SEEN = 600
#: Of which it is counted how many worked, the newest.
_MOST_COUNTED = 2000


class GaussianOutlook:
    """``histories`` are other devices' times of kernels of the same grid."""

    name = "gaussian"
    version = "3"

    def __init__(self, grid: Grid, histories: Sequence[History] = (), *, seed: int = 0) -> None:
        self._columns = [_Column(name, values) for name, values in grid.parameters.items() if len(values) > 1]
        self._histories = [
            history
            for history in histories
            if sum(seconds is not None for seconds in history.values()) >= _LEAST_KNOWN
        ]
        self._best = [
            math.log2(min(seconds for seconds in history.values() if seconds is not None))
            for history in self._histories
        ]
        self._typical = [
            float(np.mean([_octaves(value, best) for value in history.values()]))
            for history, best in zip(self._histories, self._best, strict=True)
        ]
        self._rows: dict[Settings, tuple[Floats, Floats, float]] = {}
        # By identity, with the kernel itself, so that no other can take its place.
        self._known: dict[int, tuple[KernelText, tuple[Floats, Floats, float]]] = {}
        self.scales = self._learn(seed)

    def look(self, seen: Sequence[Seen], kernels: Sequence[KernelText]) -> View:
        points, failing = self._points(kernels)
        # Kernels of no grid, the starter among them, say nothing of one setting against another.
        others = [item.log2_seconds for item in seen if not item.kernel.parameters]
        seen = [item for item in seen if item.kernel.parameters]
        worked = most_telling([item for item in seen if item.log2_seconds is not None], _MOST_SEEN)
        p_works = self._p_works(points, failing, seen[-_MOST_COUNTED:])
        if not worked:
            doubt = math.hypot(self.scales.local, self.scales.warp)
            level = _level(others) - (float(points.expected.mean()) if len(points) else 0.0)
            return View(points.expected + level, np.full(len(points), doubt + LEVEL), p_works)
        measured, _ = self._points([item.kernel for item in worked])
        log2_seconds = np.array([item.log2_seconds for item in worked], dtype=np.float64)
        model = GaussianModel(measured, log2_seconds, self.scales)
        posterior = model.ask(points)
        noise = model.scales.noise**2
        return View(posterior.mean, np.sqrt(posterior.variance), p_works, posterior.covariance, noise)

    def _p_works(self, points: Points, failing: Floats, seen: Sequence[Seen]) -> Floats:
        """Counted over measured kernels by how alike they are; failures elsewhere count as two of them."""
        good, bad = 2.0 * (1 - failing) + 0.2, 2.0 * failing + 0.02
        for wanted, counts in ((True, good), (False, bad)):
            kernels = [item.kernel for item in seen if (item.log2_seconds is not None) == wanted]
            if kernels:
                near, _ = self._points(kernels)
                counts += likeness(points.settings, near.settings, _FAILURE_LENGTH).sum(axis=1)
        share: Floats = good / (good + bad)
        return share

    def _learn(self, seed: int) -> Scales:
        known = sorted(set().union(*self._histories)) if self._histories else []
        known = known[:: max(1, len(known) // _MOST_LEARNED)]
        if not known:
            return learn_scales(np.zeros((0, self._width)), np.zeros((0, 0)), np.zeros((0, 0), dtype=bool))
        rows = [self._row(settings) for settings in known]
        # Unknown counts as failed here: neither has a time to learn from.
        failed = np.array(
            [[history.get(settings) is None for history in self._histories] for settings in known]
        )
        return learn_scales(
            np.stack([row[0] for row in rows]), np.stack([row[1] for row in rows]), failed, seed=seed
        )

    @property
    def _width(self) -> int:
        return sum(column.width for column in self._columns)

    def _points(self, kernels: Sequence[KernelText]) -> tuple[Points, Floats]:
        rows = [self._row_of(kernel) for kernel in kernels]
        if not rows:
            empty = Points(np.zeros((0, self._width)), np.zeros((0, len(self._histories))))
            return empty, np.zeros(0)
        points = Points(np.stack([row[0] for row in rows]), np.stack([row[1] for row in rows]))
        return points, np.array([row[2] for row in rows])

    def _row_of(self, kernel: KernelText) -> tuple[Floats, Floats, float]:
        known = self._known.get(id(kernel))
        if known is None or known[0] is not kernel:
            known = self._known[id(kernel)] = (kernel, self._row(settings_of(kernel.parameters)))
        return known[1]

    def _row(self, settings: Settings) -> tuple[Floats, Floats, float]:
        """(settings as numbers, octaves elsewhere, share of devices on which it failed)."""
        row = self._rows.get(settings)
        if row is None:
            values = dict(settings)
            numbers = np.concatenate([column.numbers(values.get(column.name)) for column in self._columns])
            row = self._rows[settings] = (numbers, *self._elsewhere(settings))
        return row

    def _elsewhere(self, settings: Settings) -> tuple[Floats, float]:
        octaves = np.full(len(self._histories), np.nan)
        failures = known = 0
        for place, history in enumerate(self._histories):
            if settings not in history:
                continue
            seconds = history[settings]
            known += 1
            failures += seconds is None
            octaves[place] = _octaves(seconds, self._best[place])
        missing = np.isnan(octaves)
        # A device that has not run it is taken to agree with those that have.
        octaves[missing] = octaves[~missing].mean() if known else np.array(self._typical)[missing]
        return octaves, failures / known if known else 0.0


class _Column:
    """One parameter as numbers between 0 and 1: a number by its logarithm, words one column each."""

    def __init__(self, name: str, values: tuple[Value, ...]) -> None:
        self.name = name
        self._words = [value for value in values if isinstance(value, str)]
        logs = [_log(value) for value in values if not isinstance(value, str)]
        self._low, self._high = min(logs, default=0.0), max(logs, default=0.0)

    @property
    def width(self) -> int:
        return max(1, len(self._words))

    def numbers(self, value: Value | None) -> Floats:
        if self._words:
            return np.array([0.5 * (value == word) for word in self._words])
        if value is None or isinstance(value, str) or self._high == self._low:
            return np.zeros(1)
        return np.array([(_log(value) - self._low) / (self._high - self._low)])


def _level(others: Sequence[float | None]) -> float:
    """log2 seconds that a kernel is taken to need while none of the grid was measured: as the others."""
    known = [value for value in others if value is not None]
    return float(np.mean(known)) if known else 0.0


def _log(value: float) -> float:
    return math.copysign(math.log2(abs(value) + 1), value)


def _octaves(seconds: float | None, log2_best: float) -> float:
    if seconds is None:
        return float(bent(np.array(_FAILED)))
    return float(bent(np.array(math.log2(seconds) - log2_best)))
