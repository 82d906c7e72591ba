"""Every kernel reaches about the same share of the roofline: how fast can it be, whatever its code?"""

import math
from collections.abc import Sequence

import numpy as np

from surrogate.contract import bins
from surrogate.contract.forecast import Abstention, AbstentionReason, Forecast
from surrogate.contract.request import ForecastRequest
from surrogate.features.roofline import bound_seconds
from surrogate.forecasters.base import Outcome
from surrogate.forecasters.prior import training_digest

_FEWEST = 10


class RooflineForecaster:
    """Needs the task's bytes and FLOPs, the device's ceilings and the anchor's time; abstains without."""

    name = "roofline"

    def __init__(self) -> None:
        self.version = "1"
        #: Octaves above the bound at which kernels are expected, and their spread.
        self._slack, self._spread = 1.5, 1.2

    def fit(self, outcomes: Sequence[Outcome]) -> None:
        self.version = f"1-{training_digest(outcomes)}"
        slack = [
            room - outcome.log2_ratio
            for outcome in outcomes
            if outcome.log2_ratio is not None and (room := _room(outcome.request)) is not None
        ]
        if len(slack) >= _FEWEST:
            self._slack = float(np.mean(slack))
            self._spread = max(0.1, float(np.std(slack)))

    def forecast(self, requests: Sequence[ForecastRequest]) -> list[Forecast | Abstention]:
        return [self._one(request) for request in requests]

    def _one(self, request: ForecastRequest) -> Forecast | Abstention:
        room = _room(request)
        if room is None:
            message = "No roofline: the task's bytes and FLOPs, ceilings or the anchor's time are unknown."
            return Abstention(AbstentionReason.UNSUPPORTED, message, self.name, self.version)
        masses = list(bins.normal(room - self._slack, self._spread))
        # Nothing passes the roofline, up to the error of the ceilings: half an octave is left open.
        top = bins.label_log2(room + 0.5)
        masses[top] += sum(masses[top + 1 :])
        masses[top + 1 :] = [0.0] * (bins.COUNT - top - 1)
        rationale = f"The roofline leaves room for a speed-up of {2**room:.2f}× over the reference."
        return Forecast.of(masses, forecaster=self.name, version=self.version, rationale=rationale)


def _room(request: ForecastRequest) -> float | None:
    """log2 of the largest speed-up over the anchor that the roofline allows."""
    bound = bound_seconds(request.task, request.device)
    seconds = request.anchor.seconds
    return math.log2(seconds / bound) if bound and seconds else None
