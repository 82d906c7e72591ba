"""Calibrations and weights, learned from stored forecasts and their outcomes."""

import pytest
from django.contrib.auth.models import User

from leaderboard.models import Submission
from runners.models import Device
from surrogate.calibration import MINIMUM
from surrogate.contract import bins
from surrogate.contract.forecast import Forecast as ContractForecast
from surrogate.desk import Desk
from surrogate.inquiry import SHOWN
from surrogate.models import Anchor, CalibrationVersion, Forecast
from surrogate.services import calibrations, places
from surrogate.services.calibrations import EVERY
from surrogate.services.versions import recipe_of
from surrogate.weights import weights_of
from surrogate.work import work_round
from tests.surrogate_live.judged import judge


def test_too_few_outcomes_teach_nothing(anchor: Anchor) -> None:
    judge(anchor, MINIMUM - 1)
    assert calibrations.refit_due(places.records()) == 0


def test_an_overconfident_forecaster_is_corrected_and_versions_are_kept(anchor: Anchor) -> None:
    judge(anchor, MINIMUM)
    assert calibrations.refit_due(places.records()) == 2
    assert calibrations.refit_due(places.records()) == 0
    row = CalibrationVersion.objects.get(name="statistical")
    assert (row.family, row.device, row.outcomes) == ("double", anchor.device, MINIMUM)
    assert row.metrics["recalibrated"]["nll"] < row.metrics["stated"]["nll"]
    sure = ContractForecast.of(bins.normal(0, 0.15), forecaster="statistical", version="1")
    corrected = calibrations.recalibrated(sure, row)
    assert corrected.confidence < sure.confidence
    assert corrected.calibration == row.version
    judge(anchor, EVERY, seed=1)
    assert calibrations.refit_due(places.records()) == 2
    assert CalibrationVersion.objects.filter(name="statistical").count() == 2
    assert calibrations.newest_calibrations().keys() == {
        places.Place(name, "1", anchor.device_id, "double") for name in ("statistical", "prior")
    }


def test_a_place_is_calibrated_when_it_has_enough_however_much_is_known_of_others(
    anchor: Anchor, desk: Desk
) -> None:
    judge(anchor, MINIMUM - EVERY)
    judge(anchor, 4 * MINIMUM, seed=1, version="2")
    work_round(desk)
    assert set(CalibrationVersion.objects.values_list("recipe", flat=True)) == {"2"}
    versions = desk.versions()
    judge(anchor, EVERY, seed=2)
    work_round(desk)
    assert desk.versions() == versions  # too little to teach anybody anew
    assert CalibrationVersion.objects.filter(recipe="1", outcomes=MINIMUM).count() == 2


def test_a_recipe_keeps_its_record_when_it_is_taught_anew(anchor: Anchor) -> None:
    for number, version in enumerate(("1-aaaa", "1-bbbb")):
        judge(anchor, MINIMUM // 2, seed=number, version=version)
    assert calibrations.refit_due(places.records()) == 2


def test_weights_follow_those_who_knew(anchor: Anchor) -> None:
    first = {"statistical": 0.5, "prior": 0.5}
    assert weights_of(tuple(first), first).of == first
    judge(anchor, 30)
    learned = weights_of(tuple(first), first).of
    assert learned["statistical"] > 0.8
    # Never asked, so neither blamed nor praised.
    absent = weights_of((*first, "local"), {**first, "local": 0.05}).of
    assert absent["local"] == pytest.approx(0.05 / 1.05, abs=0.01)


def test_a_calibrated_forecast_says_so_and_keeps_what_was_stated(
    anchor: Anchor, desk: Desk, owner: User, device: Device
) -> None:
    from leaderboard.services import submissions
    from surrogate.work import work_round

    submissions.submit(
        user=owner,
        task_slug="double",
        device_slug=device.slug,
        language="python",
        mode="ranked",
        source="def kernel(x):\n    return x * 2\n",
    )
    judge(anchor, MINIMUM, version="1-aa")
    calibrations.refit_due(places.records())
    desk.learn(anew=True)
    work_round(desk)
    submission = Submission.objects.get(user=owner)
    row = Forecast.objects.get(question__evaluation=submission.evaluation, forecaster__name="statistical")
    assert row.calibration is not None
    assert row.document["calibration"] == row.calibration.version
    assert row.stated != row.document["probabilities"]
    assert sum(row.document["probabilities"]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("name", "version", "recipe"),
    [
        ("statistical", "1-3fa9c1", "1"),
        ("local", "SmolLM2/abc/prompt-1", "SmolLM2/abc/prompt-1"),
        (SHOWN, "1-30~ab-prior:0.250+local:0.750", "1 of prior, local"),
        (SHOWN, "not asked", "not asked"),
    ],
)
def test_a_recipe_is_a_version_less_what_learning_changes(name: str, version: str, recipe: str) -> None:
    assert recipe_of(name, version) == recipe
