"""The distribution of past outcomes, whatever the kernel: what any forecaster must beat."""

import hashlib
from collections.abc import Sequence

from surrogate.contract import bins
from surrogate.contract.forecast import Abstention, Forecast
from surrogate.contract.request import ForecastRequest
from surrogate.forecasters.base import Outcome

#: Weight of the wide distribution that stands in before outcomes are known, in outcomes.
_STRENGTH = 10.0
_WIDE = bins.normal(-0.25, 1.5)


def smoothed_counts(log2_ratios: Sequence[float]) -> tuple[float, ...]:
    """Share of each bin, drawn a little towards a wide distribution so that no bin is impossible."""
    counts = [_STRENGTH * mass for mass in _WIDE]
    for value in log2_ratios:
        counts[bins.label_log2(value)] += 1
    total = sum(counts)
    return tuple(count / total for count in counts)


def share_correct(outcomes: Sequence[Outcome]) -> float:
    """Share of kernels that worked, by Laplace's rule."""
    return (1 + sum(outcome.log2_ratio is not None for outcome in outcomes)) / (2 + len(outcomes))


def training_digest(outcomes: Sequence[Outcome]) -> str:
    """Short name of a training set, for versions: it changes when any outcome does."""
    digest = hashlib.blake2b(digest_size=5)
    for outcome in outcomes:
        request = outcome.request
        digest.update(
            repr(
                (request.task.slug, request.device.slug, request.kernel, request.anchor, outcome.log2_ratio)
            ).encode()
        )
    return digest.hexdigest()


class PriorForecaster:
    name = "prior"

    def __init__(self) -> None:
        self.version = "1"
        self._probabilities = _WIDE
        self._p_correct: float | None = None

    def fit(self, outcomes: Sequence[Outcome]) -> None:
        known = [outcome.log2_ratio for outcome in outcomes if outcome.log2_ratio is not None]
        self._probabilities = smoothed_counts(known)
        self._p_correct = share_correct(outcomes)
        self.version = f"1-{training_digest(outcomes)}"

    def forecast(self, requests: Sequence[ForecastRequest]) -> list[Forecast | Abstention]:
        answer = Forecast.of(
            self._probabilities, forecaster=self.name, version=self.version, p_correct=self._p_correct
        )
        return [answer for _ in requests]
