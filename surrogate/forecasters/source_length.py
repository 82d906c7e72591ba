"""Longer source, faster kernel? A straight line through the difference in length, and its residuals."""

import math
from collections.abc import Sequence

import numpy as np

from surrogate.contract import bins
from surrogate.contract.forecast import Abstention, AbstentionReason, Forecast
from surrogate.contract.request import ForecastRequest
from surrogate.features.text import tokens
from surrogate.forecasters.base import Outcome
from surrogate.forecasters.prior import training_digest

_FEWEST = 10  # outcomes before a line is drawn


class SourceLengthForecaster:
    name = "source_length"

    def __init__(self) -> None:
        self.version = "1"
        self._slope, self._offset, self._spread = 0.0, 0.0, 1.5

    def fit(self, outcomes: Sequence[Outcome]) -> None:
        known = [item for item in outcomes if item.log2_ratio is not None and item.request.anchor.source]
        self.version = f"1-{training_digest(outcomes)}"
        if len(known) < _FEWEST:
            return
        lengths = np.array([_length_ratio(item.request) for item in known])
        ratios = np.array([item.log2_ratio for item in known], dtype=np.float64)
        design = np.stack([lengths, np.ones_like(lengths)], axis=1)
        (slope, offset), *_ = np.linalg.lstsq(design, ratios, rcond=None)
        self._slope, self._offset = float(slope), float(offset)
        self._spread = max(0.05, float((ratios - design @ (slope, offset)).std()))

    def forecast(self, requests: Sequence[ForecastRequest]) -> list[Forecast | Abstention]:
        return [self._one(request) for request in requests]

    def _one(self, request: ForecastRequest) -> Forecast | Abstention:
        if not request.anchor.source:
            return Abstention(
                AbstentionReason.UNSUPPORTED, "The anchor has no source.", self.name, self.version
            )
        location = self._offset + self._slope * _length_ratio(request)
        return Forecast.of(bins.normal(location, self._spread), forecaster=self.name, version=self.version)


def _length_ratio(request: ForecastRequest) -> float:
    """log2 of kernel length over anchor length, in tokens without comments."""
    kernel = len(tokens(request.kernel.language, request.kernel.source))
    anchor = len(tokens(request.anchor.language, request.anchor.source))
    return math.log2((kernel + 1) / (anchor + 1))
