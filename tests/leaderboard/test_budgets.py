"""Device seconds are reserved before a run and settled after it, once, and can't be spent twice."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from leaderboard.models import Allowance, Reservation, Spend, Submission
from leaderboard.selectors import budgets as selectors
from leaderboard.services import budgets, submissions
from leaderboard.services.errors import Refusal
from runners.models import Device, Evaluation

Submit = Callable[..., Submission]


def test_a_reservation_becomes_what_the_run_used(
    submit: Submit, finish: Callable[..., Submission], owner: User, device: Device
) -> None:
    submission = submit(owner)
    assert selectors.budget_of(owner, device).reserved == 360
    finish(submission)
    budget = selectors.budget_of(owner, device)
    assert (budget.spent, budget.reserved, budget.left) == (12.5, 0, 1800 - 12.5)
    assert not Reservation.objects.exists()


def test_settling_twice_spends_once(
    submit: Submit, finish: Callable[..., Submission], owner: User, device: Device
) -> None:
    evaluation = finish(submit(owner)).evaluation
    assert budgets.settle(evaluation=evaluation) is None
    assert selectors.budget_of(owner, device).spent == 12.5


def test_a_cancelled_submission_costs_nothing(submit: Submit, owner: User, device: Device) -> None:
    submissions.cancel(user=owner, submission=submit(owner))
    budget = selectors.budget_of(owner, device)
    assert (budget.spent, budget.reserved) == (0, 0)


def test_seconds_go_to_the_day_on_which_they_were_reserved(
    submit: Submit, finish: Callable[..., Submission], owner: User, device: Device
) -> None:
    submission = submit(owner)
    yesterday = selectors.today() - timedelta(days=1)
    Spend.objects.update(day=yesterday)
    finish(submission)
    assert Spend.objects.get().spent_seconds == 12.5
    assert selectors.budget_of(owner, device).left == 1800


def test_reservations_follow_recent_runs(
    submit: Submit, finish: Callable[..., Submission], owner: User
) -> None:
    assert submit(owner, mode="ranked").evaluation.reservation.seconds == 360
    finish(submit(owner), device_seconds=50.0)
    assert submit(owner).evaluation.reservation.seconds == 100
    Evaluation.objects.filter(status="finished").update(device_seconds=2)
    assert submit(owner).evaluation.reservation.seconds == 30
    Evaluation.objects.filter(status="finished").update(finished_at=timezone.now() - timedelta(days=30))
    assert submit(owner).evaluation.reservation.seconds == 360


def test_the_most_specific_allowance_counts(owner: User, outsider: User, device: Device, gpu: Device) -> None:
    def allowance() -> float:
        return selectors.budget_of(owner, device).allowance

    assert allowance() == 1800
    Allowance.objects.create(seconds_per_day=1)
    assert allowance() == 1
    Allowance.objects.create(device=device, seconds_per_day=2)
    assert allowance() == 2
    Allowance.objects.create(user=owner, seconds_per_day=3)
    assert allowance() == 3
    Allowance.objects.create(user=owner, device=device, seconds_per_day=4)
    assert allowance() == 4
    assert selectors.budget_of(owner, gpu).allowance == 3
    assert selectors.budget_of(outsider, gpu).allowance == 1


def test_budgets_refill_at_midnight_utc(owner: User, device: Device) -> None:
    refills_at = selectors.budget_of(owner, device).refills_at
    assert refills_at.isoformat().endswith("T00:00:00+00:00")
    assert timedelta(0) < refills_at - timezone.now() <= timedelta(days=1)


@pytest.mark.django_db(transaction=True)
def test_two_submissions_at_once_cannot_spend_the_same_seconds(
    submit: Submit, owner: User, device: Device, settings: Any
) -> None:
    settings.DEVICE_SECONDS_PER_DAY = 400  # one ranked run reserves 360
    start = threading.Barrier(4)
    outcomes: list[str] = []

    def enter() -> None:
        try:
            start.wait(timeout=60)
            submit(owner)
            outcomes.append("entered")
        except Refusal as refused:
            outcomes.append(refused.rule)
        finally:
            connection.close()

    threads = [threading.Thread(target=enter) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert sorted(outcomes) == ["entered", "over_budget", "over_budget", "over_budget"]
    assert Spend.objects.get().reserved_seconds == 360


@pytest.mark.django_db(transaction=True)
def test_the_bound_on_waiting_submissions_holds_under_a_race(
    submit: Submit, owner: User, settings: Any
) -> None:
    settings.MAX_QUEUED_PER_USER = 2
    start = threading.Barrier(5)
    outcomes: list[str] = []

    def enter() -> None:
        try:
            start.wait(timeout=60)
            submit(owner, mode="check")
            outcomes.append("entered")
        except Refusal as refused:
            outcomes.append(refused.rule)
        finally:
            connection.close()

    threads = [threading.Thread(target=enter) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert sorted(outcomes) == ["entered", "entered", *["too_many_queued"] * 3]
