"""Recalibration repairs what the record shows, and nothing else."""

import json
import math
import random

import pytest

from surrogate.calibration import MINIMUM, Calibration, fit_calibration
from surrogate.contract import bins
from surrogate.contract.forecast import UNCALIBRATED, Forecast
from surrogate.metrics import forecast_metrics
from surrogate.risk import Scope

SCOPE = Scope("model", "1", "one", "sum")


def record(
    count: int, *, stated: float, true: float, shift: float = 0.0
) -> tuple[list[Forecast], list[float]]:
    """Forecasts that state one spread while the truth has another."""
    draw = random.Random(11)
    forecasts, truths = [], []
    for _ in range(count):
        location = draw.uniform(-1.5, 1.5)
        forecasts.append(Forecast.of(bins.normal(location, stated), forecaster="model", version="1"))
        truths.append(location + shift + draw.gauss(0, true))
    return forecasts, truths


def nll(forecasts: list[Forecast], truths: list[float]) -> float:
    return forecast_metrics([item.probabilities for item in forecasts], truths)["nll"]


def test_too_few_outcomes_give_no_calibration() -> None:
    forecasts, truths = record(MINIMUM - 1, stated=0.3, true=0.9)
    assert fit_calibration(forecasts, truths, SCOPE) is None
    assert forecasts[0].calibration == UNCALIBRATED


@pytest.mark.parametrize(("stated", "true", "shift"), [(0.25, 0.9, 0.0), (1.5, 0.3, 0.0), (0.5, 0.5, 0.8)])
def test_over_and_under_confidence_and_bias_are_repaired(stated: float, true: float, shift: float) -> None:
    forecasts, truths = record(600, stated=stated, true=true, shift=shift)
    calibration = fit_calibration(forecasts[:300], truths[:300], SCOPE)
    assert calibration is not None
    assert calibration.method != "none"
    repaired = [calibration.apply(item) for item in forecasts[300:]]
    assert nll(repaired, truths[300:]) < nll(forecasts[300:], truths[300:]) - 0.1
    assert repaired[0].calibration == calibration.version


def test_a_good_forecaster_is_left_nearly_alone() -> None:
    forecasts, truths = record(400, stated=0.5, true=0.5)
    calibration = fit_calibration(forecasts, truths, SCOPE)
    assert calibration is not None
    assert calibration.method in ("none", "temperature")
    assert calibration.temperature == pytest.approx(1.0, abs=0.2)


def test_conformal_intervals_cover_what_they_say() -> None:
    forecasts, truths = record(2000, stated=0.2, true=0.7)
    calibration = fit_calibration(forecasts[:500], truths[:500], SCOPE)
    assert calibration is not None
    inside = [
        low <= truth <= high
        for forecast, truth in zip(forecasts[500:], truths[500:], strict=True)
        for low, high in [calibration.interval(forecast)]
    ]
    assert sum(inside) / len(inside) == pytest.approx(0.8, abs=0.04)


def test_a_calibration_fits_only_the_version_it_was_learned_from() -> None:
    forecasts, truths = record(100, stated=0.3, true=0.9)
    calibration = fit_calibration(forecasts, truths, SCOPE)
    assert calibration is not None
    other = Forecast.of(bins.uniform(), forecaster="model", version="2")
    with pytest.raises(ValueError, match="does not fit model 2"):
        calibration.apply(other)


@pytest.mark.parametrize("truth", [-9.0, 0.0, 0.3, 9.0])
@pytest.mark.parametrize("location", [(0.0, 0.0), (-1.5, 1.5)])
def test_a_record_of_one_outcome_gives_forecasts_all_the_same(
    truth: float, location: tuple[float, float]
) -> None:
    draw = random.Random(3)
    forecasts = [
        Forecast.of(bins.normal(draw.uniform(*location), 0.4), forecaster="model", version="1")
        for _ in range(MINIMUM)
    ]
    calibration = fit_calibration(forecasts, [truth] * MINIMUM, SCOPE)
    assert calibration is not None
    repaired = [calibration.apply(item) for item in forecasts]
    assert nll(repaired, [truth] * MINIMUM) <= nll(forecasts, [truth] * MINIMUM) + 1e-9
    assert Calibration.from_document(json.loads(json.dumps(calibration.to_document()))) == calibration


def test_documents_keep_version_and_effect() -> None:
    forecasts, truths = record(100, stated=0.3, true=0.9, shift=0.5)
    calibration = fit_calibration(forecasts, truths, SCOPE)
    assert calibration is not None
    copy = Calibration.from_document(calibration.to_document())
    assert copy == calibration
    assert copy.version == calibration.version
    assert math.isfinite(copy.interval_octaves)
