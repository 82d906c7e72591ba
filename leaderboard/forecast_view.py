"""A forecast as a page draws it: times instead of ratios, and places on a scale. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from surrogate.contract.forecast import UNCALIBRATED, Forecast
from surrogate.policy import Action
from surrogate.risk import RiskThreshold

#: Share of a scale left free at both of its ends.
_MARGIN = 0.06
#: A scale spans at least this factor of time.
_LEAST_SPAN = 2.0


@dataclass(frozen=True)
class Rival:
    """A time to beat, seconds."""

    label: str
    seconds: float


@dataclass(frozen=True)
class Chance:
    """How likely the kernel is faster than a rival, should its results be right.

    ``is_at_most``: the rival is faster than any forecast tells apart, so the probability is an upper bound.
    """

    rival: Rival
    probability: float
    is_at_most: bool
    place: float  # of the rival's time on the scale, percent


@dataclass(frozen=True)
class ForecastView:
    """Times in seconds; places in percent of a logarithmic scale that holds everything shown."""

    message: str = ""  # why there is no forecast; then all else is empty
    seconds: float | None = None
    low: float | None = None  # fast end of the 80 % band
    high: float | None = None
    p_correct: float | None = None
    confidence: float | None = None
    is_calibrated: bool = False
    outcomes: int | None = None  # measured kernels behind the calibration
    forecaster: str = ""
    rationale: str = ""
    policy: str = ""  # what a search would have done
    chances: Sequence[Chance] = field(default_factory=tuple)
    measured: float | None = None
    band_start: float = 0.0
    band_width: float = 0.0
    place: float = 0.0
    measured_place: float = 0.0

    @property
    def is_inside(self) -> bool:
        """Whether the measured time lies in the band."""
        return bool(self.measured and self.low and self.high and self.low <= self.measured <= self.high)

    @property
    def off_by(self) -> float | None:
        """Measured time over the forecast one."""
        return self.measured / self.seconds if self.measured and self.seconds else None


#: What the policy says of a kernel, as a page tells it.
POLICY_WORDS = {
    Action.MEASURE: "A search would measure it at once.",
    Action.DEFER: "A search would be unsure and leave it to the device.",
    Action.AUDIT: "A search would skip it, save for an audit drawn at random.",
    Action.SKIP: "A search would skip it.",
}


def abstention_view(message: str) -> ForecastView:
    return ForecastView(message=message)


def view_of(
    forecast: Forecast,
    anchor_seconds: float,
    rivals: Sequence[Rival],
    *,
    measured: float | None = None,
    outcomes: int | None = None,
    action: str = "",
    threshold: RiskThreshold | None = None,
) -> ForecastView:
    """``forecast`` over an anchor that takes ``anchor_seconds``; ``action`` is what the policy said, with the
    guarantee of ``threshold`` where there is one."""
    seconds, low, high = forecast.seconds(anchor_seconds)
    times = [low, high, seconds, *(rival.seconds for rival in rivals)]
    scale = _Scale([*times, measured] if measured else times)
    return ForecastView(
        seconds=seconds,
        low=low,
        high=high,
        p_correct=forecast.p_correct,
        confidence=forecast.confidence,
        is_calibrated=forecast.calibration != UNCALIBRATED,
        outcomes=outcomes,
        forecaster=forecast.forecaster,
        rationale=forecast.rationale,
        policy=_policy(Action(action), threshold) if action else "",
        chances=[_chance(forecast, anchor_seconds, rival, scale(rival.seconds)) for rival in rivals],
        measured=measured,
        band_start=scale(low),
        band_width=scale(high) - scale(low),
        place=scale(seconds),
        measured_place=scale(measured) if measured else 0.0,
    )


def _chance(forecast: Forecast, anchor_seconds: float, rival: Rival, place: float) -> Chance:
    probability, is_at_most = forecast.most_faster_than(anchor_seconds / rival.seconds)
    return Chance(rival, probability, is_at_most, place)


def _policy(action: Action, threshold: RiskThreshold | None) -> str:
    words = POLICY_WORDS[action]
    if threshold is None:
        return words
    return (
        f"{words} Of such skips at most {threshold.risk:.0%} would beat the first, with "
        f"{1 - threshold.delta:.0%} confidence, as {threshold.cases} kernels showed."
    )


class _Scale:
    """Seconds to percent, logarithmic."""

    def __init__(self, times: Sequence[float]) -> None:
        low, high = math.log2(min(times)), math.log2(max(times))
        lacking = max(0.0, math.log2(_LEAST_SPAN) - (high - low)) / 2
        span = high - low + 2 * lacking
        self._start = low - lacking - _MARGIN * span
        self._span = span * (1 + 2 * _MARGIN)

    def __call__(self, seconds: float) -> float:
        return round(100 * (math.log2(seconds) - self._start) / self._span, 2)
