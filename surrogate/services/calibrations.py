"""Calibrations: learned from forecasts and their outcomes, one per forecaster, device and task family."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from django.db.models import Count, QuerySet

from runners.models import Device
from surrogate.calibration import MINIMUM, Calibration, fit_masses
from surrogate.contract.forecast import Forecast as ContractForecast
from surrogate.metrics.forecast import forecast_metrics
from surrogate.models import CalibrationVersion, Forecast
from surrogate.requests import stored_spec
from surrogate.risk import Scope

#: New outcomes of a scope before its calibration is learned anew.
EVERY = 10
#: The newest outcomes of a scope that a calibration learns from.
_MOST = 500


@dataclass(frozen=True)
class Place:
    """Where a calibration holds."""

    name: str
    recipe: str
    device_id: int
    family: str


def judged() -> QuerySet[Forecast]:
    """Forecasts whose kernel was timed afterwards."""
    return Forecast.objects.filter(
        mean__isnull=False, question__evaluation__outcome__log2_ratio__isnull=False
    ).order_by()


def refit_due() -> int:
    """Learn the calibrations for which enough new outcomes came; returns how many."""
    newest = newest_calibrations()
    specs: dict[Place, list[str]] = defaultdict(list)
    counts: dict[Place, int] = defaultdict(int)
    rows = judged().values(
        "forecaster__name", "forecaster__recipe", "question__evaluation__device", "question__evaluation__spec"
    )
    for row in rows.annotate(number=Count("pk")):
        spec = row["question__evaluation__spec"]
        place = Place(
            row["forecaster__name"],
            row["forecaster__recipe"],
            row["question__evaluation__device"],
            stored_spec(spec).slug,
        )
        specs[place].append(spec)
        counts[place] += row["number"]
    due = [
        place
        for place, number in counts.items()
        if number >= MINIMUM and number >= (newest[place].outcomes + EVERY if place in newest else 0)
    ]
    for place in due:
        _refit(place, specs[place], counts[place])
    return len(due)


def newest_calibrations() -> dict[Place, CalibrationVersion]:
    rows = CalibrationVersion.objects.order_by(
        "name", "recipe", "device", "family", "-created_at", "-pk"
    ).distinct("name", "recipe", "device", "family")
    return {Place(row.name, row.recipe, row.device_id, row.family): row for row in rows}


def recalibrated(forecast: ContractForecast, row: CalibrationVersion) -> ContractForecast:
    """The forecast as the record says it should have been."""
    masses = Calibration.from_document(row.document).transform(np.array([forecast.probabilities]))[0]
    return forecast.recalibrated(tuple(masses.tolist()), row.version)


def _refit(place: Place, specs: list[str], known: int) -> CalibrationVersion:
    rows = list(
        judged()
        .filter(
            forecaster__name=place.name,
            forecaster__recipe=place.recipe,
            question__evaluation__device=place.device_id,
            question__evaluation__spec__in=specs,
        )
        .order_by("-created_at", "-pk")
        .values_list("stated", "question__evaluation__outcome__log2_ratio")[:_MOST]
    )
    masses = np.array([stated for stated, _ in rows], dtype=np.float64)
    truths = np.array([truth for _, truth in rows], dtype=np.float64)
    device = Device.objects.only("slug").get(pk=place.device_id)
    calibration = fit_masses(masses, truths, Scope(place.name, place.recipe, device.slug, place.family))
    return CalibrationVersion.objects.create(
        name=place.name,
        recipe=place.recipe,
        device_id=place.device_id,
        family=place.family,
        version=calibration.version,
        outcomes=known,
        document=calibration.to_document(),
        metrics={
            "stated": forecast_metrics(masses.tolist(), truths.tolist()),
            "recalibrated": forecast_metrics(calibration.transform(masses).tolist(), truths.tolist()),
        },
    )
