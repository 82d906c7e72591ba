"""Kernels that take far longer than what was set aside for them must not use up more than there is."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from leaderboard.models import Spend
from leaderboard.search.models import RunStatus, SearchCandidate, SearchRun, StopReason
from leaderboard.search.plan import Plan
from leaderboard.search.services import runs
from leaderboard.search.services.limits import Limits
from leaderboard.search.services.means import room_for
from leaderboard.search.services.stepping import Stepper
from leaderboard.services import site_mode
from runners.contract.vocabulary import Verdict
from runners.models import Device, Evaluation, EvaluationStatus, Runner
from runners.services import evaluations
from tests.search.conftest import finish, measure_all

Status = SearchCandidate.Status


@pytest.fixture
def measuring(start: Callable[..., SearchRun], runner: Runner, device: Device) -> SearchRun:
    """A run of 300 device seconds with three kernels queued, when it had more."""
    run = start(measurements=20, device_seconds=900.0)
    stepper = Stepper(run)
    stepper.step()
    measure_all(runner, device)
    stepper.step()
    SearchRun.objects.update(device_seconds_limit=300.0)
    run.refresh_from_db()
    assert Evaluation.objects.filter(status=EvaluationStatus.QUEUED).count() == 3
    return run


def hang(runner: Runner, device: Device, seconds: float) -> None:
    evaluation = evaluations.claim_next(queue=device.slug, runner=runner)
    assert evaluation is not None
    finish(evaluation, verdict=Verdict.TIMEOUT, device_seconds=seconds)


@pytest.mark.parametrize("where", ["paused", "read-only", "no worker"])
def test_also_a_run_that_takes_no_step_stops_what_is_queued(
    measuring: SearchRun,
    owner: User,
    runner: Runner,
    device: Device,
    where: str,
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    if where == "paused":
        runs.pause(run=measuring, user=owner)
    if where == "read-only":
        site_mode.set_read_only(reason="Moving house.")
    with django_capture_on_commit_callbacks(execute=True):
        hang(runner, device, 100.0)
    assert Evaluation.objects.filter(status=EvaluationStatus.QUEUED).count() == 2
    with django_capture_on_commit_callbacks(execute=True):
        hang(runner, device, 240.0)
    assert evaluations.claim_next(queue=device.slug, runner=runner) is None
    measuring.refresh_from_db()
    assert measuring.status == (RunStatus.PAUSED if where == "paused" else RunStatus.RUNNING)
    assert measuring.device_seconds_spent == pytest.approx(12.5 + 100 + 240)
    assert (measuring.measurements_reserved, measuring.device_seconds_reserved) == (0, 0)
    if where == "no worker":
        assert Stepper(measuring).step()
        measuring.refresh_from_db()
        assert measuring.stop_reason == StopReason.DEVICE_SECONDS


def test_once_the_device_seconds_are_gone_what_is_queued_is_not_begun(
    measuring: SearchRun, owner: User, runner: Runner, device: Device
) -> None:
    stepper = Stepper(measuring)
    hang(runner, device, 200.0)
    assert not stepper.step()  # some are left
    measuring.refresh_from_db()
    assert measuring.status == RunStatus.RUNNING
    hang(runner, device, 600.0)
    assert stepper.step()
    assert evaluations.claim_next(queue=device.slug, runner=runner) is None
    measuring.refresh_from_db()
    assert (measuring.status, measuring.stop_reason) == (RunStatus.FINISHED, StopReason.DEVICE_SECONDS)
    assert measuring.device_seconds_spent == pytest.approx(12.5 + 200 + 600)
    assert (measuring.measurements_reserved, measuring.device_seconds_reserved) == (0, 0)
    assert measuring.measurements_spent == 3  # the one that was stopped costs none
    assert not measuring.candidates.filter(status=Status.MEASURING).exists()
    assert sum(row.reserved_seconds for row in Spend.objects.all()) == pytest.approx(0)
    # More of them, and it goes on.
    runs.extend(run=measuring, user=owner, more=Limits(0, 2000, 0))
    assert stepper.step()
    assert measuring.candidates.filter(status=Status.MEASURING).count() == 3


@pytest.mark.parametrize(("left", "queued"), [(300.0, 2), (1000.0, 5), (230.0, 1)])
@pytest.mark.parametrize("whose", ["the run's", "the owner's day"])
def test_several_runners_that_all_hang_pass_what_is_left_by_one_evaluation(
    start: Callable[..., SearchRun],
    runner: Runner,
    device: Device,
    settings: Any,
    django_capture_on_commit_callbacks: Callable[..., Any],
    left: float,
    queued: int,
    whose: str,
) -> None:
    """What has begun can't be stopped, unlike what waits; and nobody knows how many runners there will be."""
    run = start(measurements=20, device_seconds=5000.0, plan=Plan(slots=8, multiple=2))
    stepper = Stepper(run)
    stepper.step()
    measure_all(runner, device)
    limit = 12.5 + left
    if whose == "the run's":
        SearchRun.objects.update(device_seconds_limit=limit)
    else:
        settings.DEVICE_SECONDS_PER_DAY = limit
    stepper.step()
    others = [
        Runner.objects.create(device=device, host="there", pid=pid, tier="T2", heartbeat_at=timezone.now())
        for pid in range(2, 9)
    ]
    held = [evaluations.claim_next(queue=device.slug, runner=one) for one in (runner, *others)]
    begun = [evaluation for evaluation in held if evaluation is not None]
    assert len(begun) == queued
    for evaluation in begun:
        with django_capture_on_commit_callbacks(execute=True):
            finish(evaluation, verdict=Verdict.TIMEOUT, device_seconds=240.0)
    run.refresh_from_db()
    assert run.device_seconds_spent <= limit + 240
    assert Spend.objects.get().spent_seconds <= limit + 240


def test_searches_of_one_owner_share_the_room_of_the_day(
    start: Callable[..., SearchRun], settings: Any
) -> None:
    first, second = start(measurements=20), start(measurements=20)
    settings.DEVICE_SECONDS_PER_DAY = 300  # what a first measurement sets aside, and a little
    assert Stepper(first).step()
    assert not Stepper(second).step()
    second.refresh_from_db()
    assert second.status == RunStatus.RUNNING, "it waits for what the other gives back"
    assert Evaluation.objects.count() == 1


def test_what_is_under_way_counts_among_what_may_hang() -> None:
    assert [room_for(left, 0) for left in (-5.0, 0.0, 239.0, 240.0, 1000.0)] == [1, 1, 1, 2, 5]
    assert [room_for(left, 1) for left in (0.0, 239.0, 240.0)] == [0, 0, 1]
