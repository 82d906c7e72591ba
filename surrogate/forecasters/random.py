"""Arbitrary distributions, the same for equal requests: the floor of every ranking metric."""

import hashlib
from collections.abc import Sequence
from random import Random

from surrogate.contract import bins
from surrogate.contract.forecast import Abstention, Forecast
from surrogate.contract.request import ForecastRequest
from surrogate.features.similarity import kernel_digest
from surrogate.history import anchor_digest


class RandomForecaster:
    name = "random"
    version = "1"

    def forecast(self, requests: Sequence[ForecastRequest]) -> list[Forecast | Abstention]:
        return [self._one(request) for request in requests]

    def _one(self, request: ForecastRequest) -> Forecast:
        key = (
            request.task.slug,
            request.device.slug,
            anchor_digest(request.anchor),
            kernel_digest(request.kernel),
        )
        seed = hashlib.blake2b(repr(key).encode(), digest_size=8).digest()
        draw = Random(int.from_bytes(seed))  # noqa: S311 - no secret: equal requests, equal answers
        masses = [draw.expovariate(1.0) for _ in range(bins.COUNT)]
        return Forecast.of(masses, forecaster=self.name, version=self.version)
