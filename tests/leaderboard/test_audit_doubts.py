"""What an audit makes of a time that does not hold, or that there is a doubt about."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from leaderboard.models import Standing, Submission
from leaderboard.services import audits
from runners.contract.vocabulary import Verdict
from runners.models import Evaluation, Lane

from .conftest import result_document

Submit = Callable[..., Submission]
Finish = Callable[..., Submission]
HOT = "the GPU slowed itself down for its temperature"


def test_a_time_that_does_not_hold_is_measured_again_and_then_withdrawn(
    submit: Submit, finish: Finish, owner: User, rows: Any, end_audit: Any
) -> None:
    lucky = finish(submit(owner), 1e-3, audit=False)
    for _ in range(audits.MOST_RUNS - 1):
        assert end_audit(lucky, 2e-3).standing == Standing.AUDITING
    score = end_audit(lucky, 2e-3)
    assert score.standing == Standing.WITHDRAWN
    assert "0.002 s where 0.001 s" in score.standing_reason
    assert rows() == []
    assert Evaluation.objects.filter(lane=Lane.AUDIT).count() == audits.MOST_RUNS


def with_doubt(seconds: float, **doubt: str) -> list[dict[str, Any]]:
    """The benchmarks of a run whose second case there is a doubt about."""
    timings: list[dict[str, Any]] = result_document(seconds)["benchmarks"]
    return [timings[0], timings[1] | doubt]


@pytest.mark.parametrize("seconds", [1.01e-3, 2e-3])
def test_a_disturbed_audit_is_repeated_and_may_still_confirm(
    submit: Submit, finish: Finish, owner: User, rows: Any, end_audit: Any, seconds: float
) -> None:
    new = finish(submit(owner), 1e-3, audit=False)
    assert end_audit(new, verdict=Verdict.INTERNAL_ERROR, score=None).standing == Standing.AUDITING
    disturbed = with_doubt(seconds, disturbed=HOT)
    assert end_audit(new, seconds, benchmarks=disturbed).standing == Standing.AUDITING
    assert end_audit(new, 1.01e-3).standing == Standing.RANKED
    assert rows() == [(1, "owner", "ranked")]


@pytest.mark.parametrize(("seconds", "told"), [(1.01e-3, "Case"), (2e-3, "The audit took 0.002 s")])
def test_an_audit_that_stays_disturbed_is_for_a_person_and_takes_nothing_away(
    submit: Submit, finish: Finish, owner: User, rows: Any, end_audit: Any, seconds: float, told: str
) -> None:
    new = finish(submit(owner), 1e-3, audit=False)
    for _ in range(audits.MOST_RUNS - 1):
        assert end_audit(new, 2e-3).standing == Standing.AUDITING
    score = end_audit(new, seconds, benchmarks=with_doubt(seconds, disturbed=HOT))
    assert score.standing == Standing.HELD
    assert score.standing_reason.startswith(told)
    assert HOT in score.standing_reason
    assert rows() == []


def test_a_slow_audit_is_no_less_slow_for_a_disturbed_one_before_it(
    submit: Submit, finish: Finish, owner: User, end_audit: Any
) -> None:
    new = finish(submit(owner), 1e-3, audit=False)
    for _ in range(audits.MOST_RUNS - 1):
        end_audit(new, 2e-3, benchmarks=with_doubt(2e-3, disturbed=HOT))
    assert end_audit(new, 2e-3).standing == Standing.WITHDRAWN


def test_an_audit_whose_calls_overlap_is_for_a_person(
    submit: Submit, finish: Finish, owner: User, rows: Any, end_audit: Any
) -> None:
    new = finish(submit(owner), 1e-3, audit=False)
    score = end_audit(new, benchmarks=with_doubt(1e-3, overlapping="a call alone takes 4 ms"))
    assert score.standing == Standing.HELD
    assert "may have run beside each other" in score.standing_reason
    assert rows() == []


def test_an_audit_that_cannot_be_run_leaves_the_score_to_a_person(
    submit: Submit, finish: Finish, owner: User, rows: Any, end_audit: Any
) -> None:
    new = finish(submit(owner), 1e-3, audit=False)
    for _ in range(audits.MOST_RUNS):
        score = end_audit(new, verdict=Verdict.INTERNAL_ERROR, reason="KernelHub failed.", score=None)
    assert (score.standing, score.standing_reason) == (
        Standing.HELD,
        "The audit could not be run. KernelHub failed.",
    )
    assert rows() == []
