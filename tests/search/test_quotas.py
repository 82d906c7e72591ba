"""What one person's searches may take: at once, within a day, and with which sentence they are refused."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models import F
from django.utils import timezone
from pytest_django import Settings

from leaderboard.search.llm.database import DatabaseJournal
from leaderboard.search.llm.models import JournalEntry
from leaderboard.search.models import SearchEvent, SearchRun
from leaderboard.search.selectors.quotas import quota_of
from leaderboard.search.services import runs
from leaderboard.search.services.limits import Limits
from leaderboard.services.errors import Refusal
from runners.models import Device, Runner
from tests.search.test_runs import run_to_end

Start = Callable[..., SearchRun]


def age(*, days: int) -> None:
    """Make everything that has happened so much older."""
    ago = timedelta(days=days, seconds=1)
    SearchRun.objects.update(created_at=F("created_at") - ago, finished_at=F("finished_at") - ago)
    SearchEvent.objects.update(created_at=F("created_at") - ago)
    JournalEntry.objects.update(created_at=F("created_at") - ago)


def test_measurements_within_a_day(start: Start, owner: User, settings: Settings) -> None:
    settings.SEARCH_MEASUREMENTS_PER_USER_DAY = 20
    first = start(measurements=12)
    with pytest.raises(Refusal, match=r"still take 12 measurements; 9 more would pass the 20") as refused:
        start(measurements=9)
    assert refused.value.rule == "over_measurements"
    with pytest.raises(Refusal, match="would pass"):
        runs.extend(run=first, user=owner, more=Limits(9, 0, 0))
    second = start(measurements=8)
    assert quota_of(owner).measurements == 20
    # What an ended run has left over is free again.
    runs.cancel(run=second, user=owner)
    assert (quota_of(owner).runs, quota_of(owner).measurements) == (1, 12)
    runs.extend(run=first, user=owner, more=Limits(8, 0, 0))
    assert quota_of(owner).measurements == 20


def test_what_was_measured_counts_for_a_day_and_what_may_be_as_long_as_it_goes(
    start: Start, owner: User, runner: Runner, device: Device
) -> None:
    going, ended = start(measurements=12), start(measurements=5)
    run_to_end(ended, runner, device)
    assert quota_of(owner).measurements == 17
    age(days=1)
    assert quota_of(owner).measurements == 12
    runs.cancel(run=going, user=owner)
    assert quota_of(owner).measurements == 0


def test_a_run_of_yesterday_that_is_extended_takes_of_today(
    start: Start, owner: User, runner: Runner, device: Device, settings: Settings
) -> None:
    """However often it ends and goes on: 80 measurements on a quota of 20 were taken like this once."""
    settings.SEARCH_MEASUREMENTS_PER_USER_DAY = 20
    run = run_to_end(start(measurements=8), runner, device)
    age(days=2)
    runs.extend(run=run, user=owner, more=Limits(12, 0, 0))
    assert quota_of(owner).measurements == 12
    run_to_end(run, runner, device)
    assert (run.status, run.measurements_spent) == ("finished", 20)
    assert quota_of(owner).measurements == 12
    with pytest.raises(Refusal, match="9 more would pass the 20"):
        runs.extend(run=run, user=owner, more=Limits(9, 0, 0))
    runs.extend(run=run, user=owner, more=Limits(8, 0, 0))
    assert quota_of(owner).measurements == 20


def test_money_counts_for_a_day_from_when_it_was_paid(start: Start, owner: User, settings: Settings) -> None:
    settings.SEARCH_CENTS_PER_USER_DAY = 100
    run = start()
    SearchRun.objects.update(money_limit=0.75)
    journal = DatabaseJournal(run.pk)
    asked = {"bound": "0.5", "tokens_bound": 100}
    journal.add("asked", "old", asked)
    journal.add("replied", "old", {"cost": "0.25", "tokens": 50})
    journal.add("asked", "new", asked)
    runs.cancel(run=run, user=owner)
    assert quota_of(owner).dollars == pytest.approx(0.25 + 0.5)  # ended, with a call under way all the same
    age(days=2)
    assert quota_of(owner).dollars == 0
    SearchRun.objects.update(finished_at=timezone.now())
    assert quota_of(owner).dollars == pytest.approx(0.5)
    journal.add("replied", "new", {"cost": "0.125", "tokens": 50})
    assert quota_of(owner).dollars == pytest.approx(0.125)
    # A run that goes on counts by what it has left: 0.75 less 0.375.
    SearchRun.objects.update(status="paused", stop_reason="", finished_at=None)
    assert quota_of(owner).dollars == pytest.approx(0.125 + 0.375)
    assert quota_of(owner).refusal(dollars=0.51) is not None


def test_staff_are_bound_by_the_number_of_runs_alone(start: Start, owner: User, settings: Settings) -> None:
    settings.SEARCH_MEASUREMENTS_PER_USER_DAY = 1
    settings.MAX_SEARCH_RUNS_PER_USER = 1
    owner.is_staff = True
    owner.save()
    start(measurements=12)
    with pytest.raises(Refusal) as refused:
        start()
    assert refused.value.rule == "too_many_runs"


def test_a_user_has_few_runs_at_once(start: Start, settings: Settings) -> None:
    settings.MAX_SEARCH_RUNS_PER_USER = 2
    start()
    start()
    with pytest.raises(Refusal) as refused:
        start()
    assert refused.value.rule == "too_many_runs"
