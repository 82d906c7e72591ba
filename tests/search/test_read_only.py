"""While the site is read-only, searches neither start, go on, nor use up their time; then they go on."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from leaderboard.management.commands.search_worker import SearchWorker
from leaderboard.models import Submission
from leaderboard.search.models import RunStatus, SearchRun, StopReason
from leaderboard.search.services import runs
from leaderboard.search.services.clock import wall_seconds
from leaderboard.search.services.limits import Limits
from leaderboard.search.services.stepping import Stepper
from leaderboard.services import site_mode
from leaderboard.services.errors import Refusal
from runners.models import Device, Evaluation, Runner
from tests.search.conftest import measure_all

Start = Callable[..., SearchRun]


def test_a_run_waits_with_the_reason_and_goes_on_by_itself(start: Start) -> None:
    run, worker = start(), SearchWorker()
    site_mode.set_read_only(reason="Moving house.")
    assert not worker.look()
    assert not worker.look()
    run.refresh_from_db()
    assert (run.status, run.going_since) == (RunStatus.RUNNING, None)
    assert run.stop_message.startswith("Waiting: ")
    assert "Moving house" in run.stop_message
    assert wall_seconds(run) == run.wall_seconds_spent, "its time goes on while it waits"
    assert not Evaluation.objects.exists()

    site_mode.reopen()
    assert worker.look()
    run.refresh_from_db()
    assert run.going_since is not None
    assert run.stop_message == ""


def test_the_best_kernel_is_entered_once_the_site_is_open(
    start: Start, runner: Runner, device: Device
) -> None:
    run = start(measurements=3, enters_best=True)
    stepper = Stepper(run)
    while stepper.step():
        measure_all(runner, device)
    site_mode.set_read_only(reason="Moving house.")
    SearchWorker().look()
    assert not Submission.objects.exists()
    site_mode.reopen()
    SearchWorker().look()
    assert Submission.objects.count() == 1


def test_what_lets_a_run_go_on_is_refused(start: Start, owner: User) -> None:
    run = start()
    runs.pause(run=run, user=owner)
    site_mode.set_read_only(reason="Moving house.")
    for call in (
        lambda: runs.resume(run=run, user=owner),
        lambda: runs.extend(run=run, user=owner, more=Limits()),
    ):
        with pytest.raises(Refusal, match="Moving house") as refused:
            call()
        assert refused.value.rule == "site_read_only"
    assert runs.cancel(run=run, user=owner)  # what saves device time stays possible


def test_reopening_a_run_counts_as_one_more(start: Start, owner: User, settings: Settings) -> None:
    settings.MAX_SEARCH_RUNS_PER_USER = 1
    ended = start(wall_seconds=60.0)
    SearchRun.objects.filter(pk=ended.pk).update(wall_seconds_spent=61)
    assert Stepper(ended).step()
    other = start()
    with pytest.raises(Refusal) as refused:
        runs.extend(run=ended, user=owner, more=Limits())
    assert refused.value.rule == "too_many_runs"
    ended.refresh_from_db()
    assert (ended.status, ended.stop_reason) == (RunStatus.FINISHED, StopReason.WALL_SECONDS)
    runs.extend(run=other, user=owner, more=Limits())  # one that is going counts already
    runs.cancel(run=other, user=owner)
    assert runs.extend(run=ended, user=owner, more=Limits()).status == RunStatus.RUNNING
