"""Calibrations: learned from forecasts and their outcomes, one per forecaster, device and task family."""

from collections.abc import Mapping

import numpy as np

from runners.models import Device
from surrogate.calibration import MINIMUM, Calibration, fit_masses
from surrogate.contract.forecast import Forecast as ContractForecast
from surrogate.metrics.forecast import forecast_metrics
from surrogate.models import CalibrationVersion
from surrogate.services.places import Place, Record, judged_in

#: New outcomes of a scope before its calibration is learned anew.
EVERY = 10
#: The newest outcomes of a scope that a calibration learns from.
_MOST = 500


def refit_due(records: Mapping[Place, Record]) -> int:
    """Learn the calibrations for which enough new outcomes came; returns how many."""
    newest = newest_calibrations()
    due = {
        place: record
        for place, record in records.items()
        if record.forecasts >= max(MINIMUM, newest[place].outcomes + EVERY if place in newest else 0)
    }
    for place, record in due.items():
        _refit(place, record)
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


def _refit(place: Place, record: Record) -> CalibrationVersion:
    rows = list(
        judged_in(place, record.specs)
        .order_by("-created_at", "-pk")
        .values_list("stated", "question__evaluation__outcome__log2_ratio")[:_MOST]
    )
    masses = np.array([stated for stated, _ in rows], dtype=np.float64)
    truths = np.array([truth for _, truth in rows], dtype=np.float64)
    device = Device.objects.only("slug").get(pk=place.device_id)
    calibration = fit_masses(masses, truths, place.scope(device.slug))
    return CalibrationVersion.objects.create(
        name=place.name,
        recipe=place.recipe,
        device_id=place.device_id,
        family=place.family,
        version=calibration.version,
        outcomes=record.forecasts,
        document=calibration.to_document(),
        metrics={
            "stated": forecast_metrics(masses.tolist(), truths.tolist()),
            "recalibrated": forecast_metrics(calibration.transform(masses).tolist(), truths.tolist()),
        },
    )
