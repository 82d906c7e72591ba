"""What one person's searches may take: at once, within a day, and with which sentence they are refused."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models import F
from pytest_django import Settings

from leaderboard.search.models import SearchRun
from leaderboard.search.selectors.quotas import quota_of
from leaderboard.search.services import runs
from leaderboard.search.services.runs import Limits
from leaderboard.services.errors import Refusal

Start = Callable[..., SearchRun]


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


def test_a_run_counts_for_a_day_and_as_long_as_it_goes(start: Start, owner: User) -> None:
    going, ended = start(measurements=12), start(measurements=5)
    runs.cancel(run=ended, user=owner)
    SearchRun.objects.filter(pk=ended.pk).update(measurements_spent=5)
    assert quota_of(owner).measurements == 17
    SearchRun.objects.update(created_at=F("created_at") - timedelta(days=1, seconds=1))
    assert quota_of(owner).measurements == 12
    runs.cancel(run=going, user=owner)
    assert quota_of(owner).measurements == 0


def test_staff_are_bound_by_the_number_of_runs_alone(start: Start, owner: User, settings: Settings) -> None:
    settings.SEARCH_MEASUREMENTS_PER_USER_DAY = 1
    settings.MAX_SEARCH_RUNS_PER_USER = 1
    owner.is_staff = True
    owner.save()
    start(measurements=12)
    with pytest.raises(Refusal) as refused:
        start()
    assert refused.value.rule == "too_many_runs"
