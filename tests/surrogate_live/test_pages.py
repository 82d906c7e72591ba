"""Forecasts on pages: beside the measurement, among pending entries, and as the surrogate's record."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from leaderboard.models import Submission
from runners.models import Device, Runner
from surrogate.desk import Desk
from surrogate.models import Anchor, Forecast, Outcome
from surrogate.services import outcomes
from surrogate.work import work_round
from tests.leaderboard.conftest import finish_evaluation, result_document
from tests.pages.test_pages import assert_clean

Submit = Callable[..., Submission]
Finish = Callable[..., Submission]


def text_of(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200, path
    html: str = response.content.decode().replace("\u202f", " ").replace("&#8239;", " ")
    assert_clean(html)
    return html


@pytest.fixture
def forecast(submit: Submit, owner: User, anchor: Anchor, desk: Desk) -> Submission:
    """A queued ranked run with its forecast."""
    submission = submit(owner)
    work_round(desk)
    return submission


@pytest.fixture
def record(submit: Submit, runner: Runner, owner: User, outsider: User, anchor: Anchor, desk: Desk) -> None:
    """Twenty forecasts and their measurements, of two people; the first one's are public."""
    for number in range(20):
        user = (owner, outsider)[number % 2]
        source = f"def kernel(x):\n    return x * 2 + {number}\n"
        submission = submit(user, source=source, mode="benchmark", is_public=user == owner)
        work_round(desk)
        finish_evaluation(runner, submission.evaluation, result_document(1e-3 * 2 ** (number % 5)))
    outcomes.record_missing()


def test_forecast_and_measurement_stand_side_by_side(
    client: Client, forecast: Submission, finish: Finish, owner: User
) -> None:
    client.force_login(owner)
    page = f"/submissions/{forecast.pk}/live/"
    before = text_of(client, page)
    assert "Faster than reference, eager" in before
    assert "uncalibrated" in before
    assert 'confidence <span class="number">' in before
    assert "Measured," not in before
    assert "A search would" in before
    finish(forecast, 1e-3)
    after = text_of(client, page)
    assert "Measured, " in after
    assert "1.000 ms" in after


def test_the_api_tells_the_same_to_the_same_people(
    client: Client, forecast: Submission, finish: Finish, owner: User, outsider: User
) -> None:
    path = f"/api/v1/submissions/{forecast.pk}/forecast/"
    client.force_login(outsider)
    assert client.get(path).status_code == 404
    client.force_login(owner)
    told = client.get(path).json()
    assert told["low"] < told["seconds"] < told["high"]
    assert told["chances"][0]["against"] == "reference, eager"
    assert told["measured"] is None
    finish(forecast, 1e-3)
    assert client.get(path).json()["measured"] == 1e-3


def test_pending_entries_are_marked_as_forecasts_and_hold_no_rank(
    client: Client, forecast: Submission, owner: User, outsider: User, device: Device, finish: Finish
) -> None:
    board = f"/tasks/double/board/?device={device.slug}"
    client.force_login(owner)
    mine = text_of(client, board)
    assert "Pending" in mine
    assert "not measurements" in mine
    assert "≈ " in mine
    client.force_login(outsider)
    assert "Pending" not in text_of(client, board)  # private
    Submission.objects.update(is_public=True)
    assert "Pending" in text_of(client, board)
    finish(forecast)
    assert "Pending" not in text_of(client, board)


def test_an_abstention_says_why(client: Client, submit: Submit, owner: User, desk: Desk) -> None:
    submission = submit(owner)
    work_round(desk)
    client.force_login(owner)
    assert "Nothing is measured here yet" in text_of(client, f"/submissions/{submission.pk}/")


def test_empty_pages_teach(client: Client, device: Device) -> None:
    assert "Nothing was forecast here yet" in text_of(client, "/surrogate/")
    page = text_of(client, f"/surrogate/{device.slug}/")
    assert "Submit a kernel in any mode but check" in page
    assert "Begins with 10 measured forecasts" in page
    assert client.get("/surrogate/none/").status_code == 404


@pytest.mark.usefixtures("record")
def test_the_record_shows_curves_and_only_points_one_may_see(
    client: Client, device: Device, owner: User, outsider: User, staff: User
) -> None:
    path = f"/surrogate/{device.slug}/"
    anonymous = text_of(client, path)
    for heading in ("Reliability", "Risk and coverage", "Ranking quality over time", "Forecasters compared"):
        assert heading in anonymous
    assert anonymous.count("data-chart=") == 4
    public = set(map(str, Submission.objects.filter(user=owner).values_list("pk", flat=True)))
    private = set(map(str, Submission.objects.filter(user=outsider).values_list("pk", flat=True)))
    assert all(pk in anonymous for pk in public)
    assert not any(pk in anonymous for pk in private)
    assert "10 of private submissions are not shown" in anonymous
    client.force_login(outsider)
    assert all(pk in text_of(client, path) for pk in private | public)


@pytest.mark.usefixtures("record")
def test_numbers_of_the_record_are_those_of_the_rows_and_cost_a_fixed_number_of_questions(
    client: Client, device: Device, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(4):  # devices, forecasts, and the two for the state of the site
        overview = text_of(client, "/surrogate/")
    with django_assert_num_queries(9):  # and submissions, tasks, calibrations, guarantees, money
        client.get(f"/surrogate/{device.slug}/")
    shown = Forecast.objects.filter(is_shown=True).select_related("question__evaluation__outcome")
    errors = [abs(row.mean - row.question.evaluation.outcome.log2_ratio) for row in shown]
    factor = 2 ** (math.fsum(errors) / len(errors))
    assert Outcome.objects.count() == 20
    assert f"{factor:.2f}×" in overview
