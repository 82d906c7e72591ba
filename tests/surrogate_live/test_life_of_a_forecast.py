"""From a submission to a forecast, and from its measurement to what is learned of it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.models import BoardState, Submission
from leaderboard.services import submissions
from runners.contract.vocabulary import Verdict
from runners.models import Device, Runner
from surrogate.contract import bins
from surrogate.contract.forecast import AbstentionReason
from surrogate.contract.forecast import Forecast as ContractForecast
from surrogate.desk import QUICK, Desk
from surrogate.inquiry import SHOWN
from surrogate.models import Anchor, Forecast, Outcome, Question
from surrogate.services import outcomes, questions
from surrogate.work import FAILED, NO_ANCHOR, work_round
from tests.leaderboard.conftest import finish_evaluation, result_document

Submit = Callable[..., Submission]
Finish = Callable[..., Submission]
Capture = Callable[..., Any]


def shown(submission: Submission) -> Forecast:
    return Forecast.objects.get(question__evaluation=submission.evaluation, is_shown=True)


def test_every_submission_is_forecast_by_every_member_and_shown_once(
    submit: Submit, owner: User, anchor: Anchor, desk: Desk
) -> None:
    submission = submit(owner)
    work_round(desk)
    rows = Forecast.objects.filter(question__evaluation=submission.evaluation)
    assert {row.forecaster.name for row in rows} == {*QUICK, SHOWN}
    row = shown(submission)
    assert row.forecaster.name == SHOWN
    forecast = ContractForecast.from_document(row.document)
    assert row.mean == pytest.approx(forecast.mean)
    assert (row.low, row.high) == pytest.approx(forecast.interval())
    assert forecast.calibration == "uncalibrated"
    assert row.question.anchor == anchor
    assert row.action in ("measure", "defer", "audit")


def test_a_check_is_not_forecast(submit: Submit, owner: User, anchor: Anchor) -> None:
    submit(owner, mode="check")
    assert not Question.objects.exists()


def test_a_site_without_a_surrogate_asks_nothing(
    submit: Submit, owner: User, anchor: Anchor, settings: Any
) -> None:
    settings.SURROGATE = False
    submit(owner)
    assert not Question.objects.exists()


def test_without_a_reference_there_is_no_forecast_and_it_says_why(
    submit: Submit, owner: User, desk: Desk
) -> None:
    submission = submit(owner)
    work_round(desk)
    row = shown(submission)
    assert (row.abstention, row.message) == (AbstentionReason.UNSUPPORTED, NO_ANCHOR)
    assert row.document is None


def test_on_a_new_site_the_ceilings_of_the_device_are_what_is_known(
    submit: Submit, owner: User, anchor: Anchor, desk: Desk
) -> None:
    # The least traffic takes 3.8 ms on this device, so that an anchor of 4 ms leaves next to no room.
    ceilings = {"copy_bytes_per_s": 3e6, "flops_per_s": {"float32": 1e9}, "launch_seconds": 1e-6}
    Device.objects.update(ceilings=ceilings)
    submission = submit(owner)
    work_round(desk)
    row = Forecast.objects.get(forecaster__name="roofline", question__evaluation=submission.evaluation)
    masses = row.document["probabilities"]
    assert sum(masses[-3:]) == 0  # nothing passes the roofline
    rationale = shown(submission).document["rationale"]
    assert rationale.startswith("The roofline leaves room for a speed-up of ")
    assert rationale.endswith(" over the reference.")


def test_what_comes_after_the_measurement_is_no_forecast(
    submit: Submit, finish: Finish, owner: User, anchor: Anchor, desk: Desk
) -> None:
    submission = finish(submit(owner))
    work_round(desk)
    assert shown(submission).abstention == AbstentionReason.TIMEOUT


def test_a_question_is_answered_once(submit: Submit, owner: User, anchor: Anchor, desk: Desk) -> None:
    submit(owner)
    work_round(desk)
    before = Forecast.objects.count()
    Question.objects.update(asked_at="2020-01-01T00:00Z")
    work_round(desk)
    assert Forecast.objects.count() == before


def test_measuring_records_the_outcome_beside_the_forecast(
    submit: Submit,
    finish: Finish,
    owner: User,
    anchor: Anchor,
    desk: Desk,
    django_capture_on_commit_callbacks: Capture,
) -> None:
    submission = submit(owner)
    work_round(desk)
    with django_capture_on_commit_callbacks(execute=True):
        finish(submission, 1e-3)
    outcome = Outcome.objects.get(evaluation=submission.evaluation)
    assert outcome.log2_ratio == pytest.approx(2.0)  # 4 ms ÷ 1 ms
    assert outcome.is_correct
    assert outcome.noise > 0
    # Its audit measured the same kernel once more and is not a second outcome.
    assert Outcome.objects.count() == 1


@pytest.mark.parametrize(
    ("verdict", "known"),
    [
        (Verdict.WRONG, True),
        (Verdict.COMPILE_ERROR, True),
        (Verdict.INTERNAL_ERROR, False),
        (Verdict.REFUSED, False),
    ],
)
def test_failures_of_the_kernel_are_outcomes_and_ours_are_not(
    submit: Submit, runner: Runner, owner: User, anchor: Anchor, verdict: Verdict, known: bool
) -> None:
    submission = submit(owner)
    finish_evaluation(
        runner, submission.evaluation, result_document(verdict=verdict, reason="It failed.", score=None)
    )
    outcomes.record_missing()
    assert list(Outcome.objects.values_list("is_correct", "log2_ratio")) == ([(False, None)] if known else [])


def test_outcomes_that_nobody_recorded_are_made_up_for(
    submit: Submit, finish: Finish, owner: User, anchor: Anchor
) -> None:
    finish(submit(owner))
    assert not Outcome.objects.exists()  # nothing was committed, so nobody was told
    assert outcomes.record_missing() == 1
    assert outcomes.record_missing() == 0


def test_pages_hear_of_a_forecast(
    submit: Submit, owner: User, anchor: Anchor, desk: Desk, django_capture_on_commit_callbacks: Capture
) -> None:
    submission = submit(owner)
    before = BoardState.objects.get().seq
    with django_capture_on_commit_callbacks(execute=True):
        work_round(desk)
    submission.evaluation.refresh_from_db()
    assert submission.evaluation.seq == 1
    assert BoardState.objects.get().seq == before + 1


def test_a_forecaster_that_raises_takes_nobody_with_it(
    submit: Submit, owner: User, anchor: Anchor, desk: Desk
) -> None:
    class Broken:
        name, version = "local", "broken"

        def forecast(self, requests: object) -> list[Any]:
            raise RuntimeError("no")

    desk.add("local", Broken())
    submission = submit(owner)
    work_round(desk)
    assert shown(submission).document is not None
    broken = Forecast.objects.get(forecaster__name="local")
    assert broken.abstention == AbstentionReason.UNAVAILABLE


def test_a_question_that_cannot_be_answered_does_not_stop_the_others(
    submit: Submit, owner: User, anchor: Anchor, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = submit(owner), submit(owner, source="def kernel(x):\n    return x + x\n")
    ask = desk.inquire

    def inquire(request: Any, *rest: Any, **more: Any) -> Any:
        if request.kernel.source == first.kernel.source:
            raise RecursionError("too deep")
        return ask(request, *rest, **more)

    monkeypatch.setattr(desk, "inquire", inquire)
    work_round(desk)
    assert shown(first).abstention == AbstentionReason.UNAVAILABLE
    assert shown(second).document is not None


def test_an_answer_that_cannot_be_stored_does_not_stop_the_others(
    submit: Submit, owner: User, anchor: Anchor, desk: Desk
) -> None:
    class Unstorable:
        name, version = "local", "a\0b"

        def forecast(self, requests: Any) -> list[ContractForecast]:
            if requests[0].kernel.source == first.kernel.source:
                return [ContractForecast.of(bins.uniform(), forecaster=self.name, version=self.version)]
            return [ContractForecast.of(bins.uniform(), forecaster=self.name, version="1")]

    first, second = submit(owner), submit(owner, source="def kernel(x):\n    return x + x\n")
    desk.add("local", Unstorable())
    work_round(desk)
    assert (shown(first).abstention, shown(first).message) == (AbstentionReason.UNAVAILABLE, FAILED)
    assert shown(second).document is not None


def test_the_desk_learns_when_enough_was_measured(
    submit: Submit, finish: Finish, owner: User, anchor: Anchor, desk: Desk
) -> None:
    versions = desk.versions()
    for number in range(5):
        finish(submit(owner, source=f"def kernel(x):\n    return x * 2 + {number}\n"), audit=False)
    outcomes.record_missing()
    assert desk.learn()
    assert desk.versions()["prior"] != versions["prior"]
    assert not desk.learn()


def test_asking_costs_a_submission_two_queries(submit: Submit, owner: User, anchor: Anchor) -> None:
    with CaptureQueriesContext(connection) as asked:
        submit(owner)
    about = [query["sql"] for query in asked if "surrogate_" in query["sql"]]
    assert len(about) == 2
    cache.clear()


def test_a_bell_that_cannot_be_rung_stops_nobody(
    submit: Submit,
    owner: User,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Capture,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ConnectionError("no Redis")

    monkeypatch.setattr(cache, "add", broken)
    with django_capture_on_commit_callbacks(execute=True):
        submission = submit(owner)
    assert questions.waiting(10).get().evaluation == submission.evaluation
    assert submissions.cancel(user=owner, submission=submission)
    assert "could not ring the surrogate worker" in caplog.text
