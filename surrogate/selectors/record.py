"""The record of a device: what was forecast there, and what then was measured."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from runners.models import Device, SpecDocument
from surrogate.models import CalibrationVersion, Forecast, GuaranteeVersion, SpendDay

#: Forecasts that pages look at, newest first.
MOST = 3000

_FIELDS = {
    "forecaster__name": "name",
    "forecaster__recipe": "recipe",
    "forecaster__version": "version",
    "question__evaluation_id": "evaluation",
    "question__evaluation__device_id": "device",
    "question__evaluation__spec_id": "spec",
    "question__anchor__seconds": "anchor_seconds",
    "question__evaluation__outcome__log2_ratio": "log2_ratio",
    "question__evaluation__outcome__seconds": "seconds",
    "question__evaluation__outcome__noise": "noise",
    "question__evaluation__outcome__is_correct": "is_correct",
    "document__probabilities": "masses",
    "calibration_id": "calibration",
    **{
        name: name
        for name in (
            "created_at", "is_shown", "mean", "low", "high", "confidence", "p_correct", "abstention",
            "latency_seconds", "tokens", "cost_usd",
        )
    },
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One forecast with its outcome, as far as there is one. Ratios are log2 over the anchor."""

    name: str
    recipe: str
    version: str
    evaluation: UUID
    device: int
    spec: str
    anchor_seconds: float | None
    log2_ratio: float | None
    seconds: float | None
    noise: float | None
    is_correct: bool | None
    masses: list[float] | None
    calibration: int | None
    created_at: datetime
    is_shown: bool
    mean: float | None
    low: float | None
    high: float | None
    confidence: float | None
    p_correct: float | None
    abstention: str
    latency_seconds: float
    tokens: int
    cost_usd: Decimal

    @property
    def is_judged(self) -> bool:
        return self.mean is not None and self.log2_ratio is not None


def device_rows(device: Device) -> list[Row]:
    """Forecasts of every forecaster on ``device``, newest first. One query."""
    return _rows(Forecast.objects.filter(question__evaluation__device=device))


def shown_rows() -> list[Row]:
    """What people were shown, on all devices, newest first. One query."""
    return _rows(Forecast.objects.filter(is_shown=True))


def calibrations(device: Device) -> list[CalibrationVersion]:
    """The newest per task family and forecaster; older ones stay in the table. One query."""
    scope = ("family", "name", "recipe")
    rows = CalibrationVersion.objects.filter(device=device).order_by(*scope, "-created_at", "-pk")
    return list(rows.distinct(*scope)[:50])


def guarantees(device: Device) -> list[GuaranteeVersion]:
    """The newest per task family and forecaster. One query."""
    scope = ("family", "name", "recipe")
    rows = GuaranteeVersion.objects.filter(device=device).order_by(*scope, "-created_at", "-pk")
    return list(rows.distinct(*scope))


def families(specs: Iterable[str]) -> dict[str, str]:
    """Task version to task. One query."""
    rows = SpecDocument.objects.filter(pk__in=set(specs)).values_list("pk", "document__slug")
    return dict(rows)


def spent_on(day: date) -> SpendDay | None:
    return SpendDay.objects.filter(day=day).first()


def _rows(forecasts: QuerySet[Forecast]) -> list[Row]:
    found: list[dict[str, Any]] = list(forecasts.order_by("-created_at", "-pk").values(*_FIELDS)[:MOST])
    return [Row(**{_FIELDS[key]: value for key, value in item.items()}) for item in found]
