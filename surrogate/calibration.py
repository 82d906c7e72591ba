"""Making stated probabilities true: what a forecaster's own record says about its over- or under-confidence.

One calibration belongs to one scope: forecaster version, device and task family. With too few outcomes there
is none, and forecasts stay "uncalibrated".
"""

import hashlib
import json
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from surrogate.contract import bins
from surrogate.contract.forecast import Forecast
from surrogate.metrics.forecast import nll
from surrogate.risk import Scope

Floats = NDArray[np.float64]
Method = Literal["none", "temperature", "isotonic"]

#: Outcomes of one scope before anything is learned from them.
MINIMUM = 40
_FOLDS = 5
_KNOTS = 21
#: Methods, and by how much log score (nats) each must beat the others: isotonic curves follow noise.
_METHODS: dict[Method, float] = {"none": 0.0, "temperature": 0.0, "isotonic": 0.01}


@dataclass(frozen=True)
class Calibration:
    """A learned change to distributions.

    ``temperature`` T raises every mass to 1/T; ``curve`` maps stated cumulative probabilities, at equal steps
    from 0 to 1, to those that came true. ``interval_octaves`` is the conformal half-width: the truth lay
    within that of the mean in ``interval_share`` of the outcomes, with the finite-sample correction.
    """

    scope: Scope
    method: Method
    outcomes: int
    temperature: float = 1.0
    curve: tuple[float, ...] = ()
    interval_octaves: float = math.inf
    interval_share: float = 0.8

    @property
    def version(self) -> str:
        """Names method, number of outcomes and content: ``temperature-120-3fa9c1``."""
        content = json.dumps(self.to_document(), sort_keys=True).encode()
        return f"{self.method}-{self.outcomes}-{hashlib.blake2b(content, digest_size=3).hexdigest()}"

    def apply(self, forecast: Forecast) -> Forecast:
        """The forecast as its record says it should have been. Raises ValueError outside the scope."""
        if (forecast.forecaster, forecast.version) != (self.scope.forecaster, self.scope.version):
            raise ValueError(
                f"a calibration of {self.scope.forecaster} {self.scope.version} "
                f"does not fit {forecast.forecaster} {forecast.version}"
            )
        masses = self.transform(np.array([forecast.probabilities]))[0]
        return forecast.recalibrated(tuple(masses.tolist()), self.version)

    def interval(self, forecast: Forecast) -> tuple[float, float]:
        """Conformal interval around the uncalibrated ``forecast``'s mean, in octaves."""
        return forecast.mean - self.interval_octaves, forecast.mean + self.interval_octaves

    def transform(self, masses: Floats) -> Floats:
        """The same for rows of bin masses."""
        if self.method == "temperature":
            return _tempered(masses, self.temperature)
        if self.method == "isotonic":
            return _mapped(masses, self.curve)
        return masses

    def to_document(self) -> dict[str, Any]:
        return {**asdict(self), "curve": list(self.curve)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Calibration":
        return cls(**{**document, "scope": Scope(**document["scope"]), "curve": tuple(document["curve"])})


def fit_calibration(
    forecasts: Sequence[Forecast], truths: Sequence[float], scope: Scope, *, minimum: int = MINIMUM
) -> Calibration | None:
    """Learn from uncalibrated forecasts and the log2 speed-ups that were measured; None with too few.

    Which method is used is decided by cross-validated log score; "none" is one of them.
    """
    if len(forecasts) < minimum:
        return None
    masses = np.array([item.probabilities for item in forecasts])
    return fit_masses(masses, np.asarray(truths, dtype=np.float64), scope)


def fit_masses(masses: Floats, truths: Floats, scope: Scope) -> Calibration:
    """``fit_calibration`` over rows of bin masses, whatever their number."""
    order = np.random.default_rng(0).permutation(len(truths))
    losses: dict[Method, float] = {}
    for method, margin in _METHODS.items():
        total = 0.0
        for fold in range(_FOLDS):
            held = order[fold::_FOLDS]
            rest = np.setdiff1d(order, held)
            fitted = _fit(method, masses[rest], truths[rest], scope)
            total += float(nll(fitted.transform(masses[held]), _labels(truths[held])).sum())
        losses[method] = total / len(truths) + margin
    return _fit(min(losses, key=losses.__getitem__), masses, truths, scope)


def _fit(method: Method, masses: Floats, truths: Floats, scope: Scope) -> Calibration:
    half_width = conformal_half_width(masses, truths, 0.8)
    if method == "temperature":
        temperature = _best_temperature(masses, _labels(truths))
        return Calibration(scope, method, len(truths), temperature=temperature, interval_octaves=half_width)
    if method == "isotonic":
        curve = _isotonic_curve(masses, truths)
        return Calibration(scope, method, len(truths), curve=curve, interval_octaves=half_width)
    return Calibration(scope, method, len(truths), interval_octaves=half_width)


def conformal_half_width(masses: Floats, truths: Floats, share: float) -> float:
    """The ⌈(n + 1) · share⌉-th smallest distance of truth and mean; infinite when n is too small for it."""
    middle = masses @ np.array([bins.midpoint(index) for index in range(bins.COUNT)])
    distances = np.sort(abs(truths - middle))
    place = math.ceil((len(distances) + 1) * share)
    return float(distances[place - 1]) if place <= len(distances) else math.inf


def _best_temperature(masses: Floats, labels: NDArray[Any]) -> float:
    """Golden-section search over log T; the log score has one minimum in it."""
    low, high = math.log(0.2), math.log(8.0)
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(40):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if _score(masses, labels, left) < _score(masses, labels, right):
            high = right
        else:
            low = left
    return math.exp((low + high) / 2)


def _score(masses: Floats, labels: NDArray[Any], log_temperature: float) -> float:
    return float(nll(_tempered(masses, math.exp(log_temperature)), labels).mean())


def _tempered(masses: Floats, temperature: float) -> Floats:
    logs = np.log(np.maximum(masses, 1e-9)) / temperature
    raised = np.exp(logs - logs.max(axis=1, keepdims=True))
    result: Floats = raised / raised.sum(axis=1, keepdims=True)
    return result


def _isotonic_curve(masses: Floats, truths: Floats) -> tuple[float, ...]:
    """The share of truths below each stated cumulative probability: increasing by construction.

    Two truths are added at the ends, so that the curve never says 0 or 1 inside.
    """
    stated = sorted(bins.cumulative(row, value) for row, value in zip(masses, truths, strict=True))
    steps = np.linspace(0, 1, _KNOTS)
    inner = [(bisect_right(stated, step) + 1) / (len(stated) + 2) for step in steps[1:-1]]
    return (0.0, *inner, 1.0)


def _mapped(masses: Floats, curve: Sequence[float]) -> Floats:
    cumulative = np.concatenate([np.zeros((len(masses), 1)), masses.cumsum(axis=1)], axis=1)
    mapped = np.interp(np.minimum(cumulative, 1.0), np.linspace(0, 1, len(curve)), curve)
    mapped[:, -1] = 1.0
    result: Floats = np.maximum(np.diff(mapped, axis=1), 0.0)
    return result


def _labels(truths: Floats) -> NDArray[np.int64]:
    return np.array([bins.label_log2(value) for value in truths], dtype=np.int64)
