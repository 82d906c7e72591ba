"""Runs that stop by themselves for a while: until a day's seconds refill, or while an account is locked."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from leaderboard.management.commands.search_worker import SearchWorker
from leaderboard.models import Spend, Submission
from leaderboard.search.models import RunStatus, SearchRun, StopReason
from leaderboard.search.services import runs
from leaderboard.search.services.stepping import Stepper
from leaderboard.services import site_mode
from runners.models import Device, Evaluation, Runner
from tests.search.conftest import measure_all

Start = Callable[..., SearchRun]


@pytest.fixture
def paused(start: Start, runner: Runner, device: Device, settings: Any) -> SearchRun:
    """A run whose owner's day is used up."""
    run = start(measurements=50)
    settings.DEVICE_SECONDS_PER_DAY = 300
    stepper = Stepper(run)
    while stepper.step() and run.status == RunStatus.RUNNING:
        measure_all(runner, device)
        run.refresh_from_db()
    return run


def on_the_next_day(run: SearchRun) -> None:
    Spend.objects.all().delete()
    SearchRun.objects.filter(pk=run.pk).update(resumes_at=timezone.now() - timedelta(seconds=1))


def test_a_spent_day_pauses_the_run_and_says_until_when(paused: SearchRun) -> None:
    assert paused.status == RunStatus.PAUSED
    assert "device seconds" in paused.stop_message
    assert "It goes on by itself at 00:00 UTC." in paused.stop_message
    tomorrow = (timezone.now() + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    assert paused.resumes_at is not None
    assert abs(paused.resumes_at - tomorrow) <= timedelta(days=1)  # midnight may come meanwhile
    assert Spend.objects.get().spent_seconds + Spend.objects.get().reserved_seconds <= 300


def test_it_goes_on_by_itself_once_they_refill(paused: SearchRun) -> None:
    worker = SearchWorker()
    assert not worker.look()
    on_the_next_day(paused)
    site_mode.set_read_only(reason="Moving house.")
    assert not worker.look()
    paused.refresh_from_db()
    assert paused.status == RunStatus.PAUSED, "no step could be taken"
    site_mode.reopen()
    assert worker.look()
    paused.refresh_from_db()
    assert (paused.status, paused.stop_message, paused.resumes_at) == (RunStatus.RUNNING, "", None)
    assert paused.going_since is not None
    assert runs.resume_due() == 0


def test_what_a_person_pauses_waits_for_a_person(start: Start, owner: User) -> None:
    run = start()
    runs.pause(run=run, user=owner)
    assert runs.resume_due() == 0
    run.refresh_from_db()
    assert (run.status, run.resumes_at) == (RunStatus.PAUSED, None)


def test_its_owner_may_keep_it_paused(paused: SearchRun, owner: User, client: Client) -> None:
    client.force_login(owner)
    page = f"/searches/{paused.pk}/"
    assert "Keep paused" in client.get(page).content.decode()
    client.post(f"{page}pause/")
    paused.refresh_from_db()
    assert (paused.status, paused.resumes_at) == (RunStatus.PAUSED, None)
    assert "by its owner" in paused.stop_message
    assert "Keep paused" not in client.get(page).content.decode()
    assert not runs.pause(run=paused, user=owner), "once is enough"


def test_one_that_was_ended_meanwhile_stays_so(paused: SearchRun, owner: User) -> None:
    on_the_next_day(paused)
    runs.cancel(run=paused, user=owner)
    assert runs.resume_due() == 0
    paused.refresh_from_db()
    assert (paused.status, paused.stop_reason) == (RunStatus.FINISHED, StopReason.CANCELLED)


def test_a_day_that_never_pays_for_a_measurement_resumes_nothing(start: Start, settings: Any) -> None:
    run = start()
    settings.DEVICE_SECONDS_PER_DAY = 20
    Stepper(run).step()
    run.refresh_from_db()
    assert (run.status, run.resumes_at) == (RunStatus.PAUSED, None)
    assert "by itself" not in run.stop_message


def test_the_sites_day_counts_too(start: Start, runner: Runner, device: Device, settings: Any) -> None:
    """Fewer are measured at once where it leaves less, and a run waits for it as for its owner's."""
    run = start(measurements=50)
    stepper = Stepper(run)
    stepper.step()
    measure_all(runner, device)
    settings.SITE_DEVICE_SECONDS_PER_DAY = 12.5 + 70
    stepper.step()
    assert measure_all(runner, device) == 2, "30 s are set aside for each"
    while stepper.step() and run.status == RunStatus.RUNNING:
        measure_all(runner, device)
        run.refresh_from_db()
    assert (run.status, run.resumes_at is None) == (RunStatus.PAUSED, False)


def test_an_account_that_is_locked_while_a_step_is_thought_out_queues_nothing(
    start: Start, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start()
    step = Stepper(run)
    generation = step._generation

    def locked(*values: Any) -> Any:
        User.objects.filter(pk=owner.pk).update(is_active=False)
        return generation(*values)

    monkeypatch.setattr(step, "_generation", locked)
    assert not step.step()
    assert not Evaluation.objects.exists()


def test_a_locked_account_neither_searches_nor_enters(
    start: Start, owner: User, runner: Runner, device: Device
) -> None:
    ended = start(measurements=8, enters_best=True)
    stepper = Stepper(ended)
    while stepper.step():
        measure_all(runner, device)
    going = start()
    User.objects.filter(pk=owner.pk).update(is_active=False)
    worker = SearchWorker()
    worker.look()
    worker.look()
    going.refresh_from_db()
    assert (going.status, going.generations) == (RunStatus.PAUSED, 0)
    assert "locked" in going.stop_message
    assert not Submission.objects.exists()
    User.objects.filter(pk=owner.pk).update(is_active=True)
    worker.look()
    assert Submission.objects.count() == 1
