"""The one interface of all forecasters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from surrogate.contract.forecast import Abstention, Forecast
from surrogate.contract.request import ForecastRequest


@dataclass(frozen=True)
class Outcome:
    """A request whose answer is known: what forecasters learn from and are judged by.

    ``log2_ratio`` is log2(t_anchor / t_kernel) as measured, None when the kernel failed. ``noise`` is the
    spread of ``log2_ratio`` over repeated measurements, in octaves, zero where it is unknown. ``key`` is
    that of the row it was read from, None for data from elsewhere.
    """

    request: ForecastRequest
    log2_ratio: float | None
    noise: float = 0.0
    key: int | None = None


@runtime_checkable
class Forecaster(Protocol):
    """``version`` changes whenever the same request may get another answer."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def forecast(self, requests: Sequence[ForecastRequest]) -> list[Forecast | Abstention]:
        """One answer per request, in order. Never raises for anything a request holds."""
        ...


@runtime_checkable
class LearningForecaster(Forecaster, Protocol):
    """A forecaster that learns from outcomes. It answers before its first fit, then with a wide prior."""

    def fit(self, outcomes: Sequence[Outcome]) -> None: ...
