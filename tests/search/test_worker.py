"""The process that steps all runs, and what becomes of a run's best kernel."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.management.commands.search_worker import SearchWorker
from leaderboard.models import Submission
from leaderboard.search.models import RunStatus, SearchRun, StopReason
from leaderboard.search.services import runs
from leaderboard.search.services.stepping import Stepper
from runners.contract.vocabulary import Mode
from runners.models import Device, Lane, Runner
from tests.search.conftest import measure_all

Start = Callable[..., SearchRun]


def test_a_worker_steps_all_runs_and_enters_the_best(start: Start, runner: Runner, device: Device) -> None:
    one, other = start(measurements=5, enters_best=True), start(measurements=5)
    worker = SearchWorker()
    worker.look()
    while SearchRun.objects.filter(status=RunStatus.RUNNING).exists():
        measure_all(runner, device)
        worker.look()
    worker.look()
    for run in (one, other):
        run.refresh_from_db()
        assert (run.stop_reason, run.measurements_spent) == (StopReason.MEASUREMENTS, 5)
    submission = Submission.objects.get()
    assert one.entered == submission
    assert other.entered is None
    assert (submission.user, submission.mode) == (one.user, Mode.RANKED)
    assert submission.evaluation.lane == Lane.PERSON
    best = one.candidates.get(kernel=submission.kernel)
    assert best.seconds == one.best_seconds
    assert one.events.last().document["submission"] == str(submission.pk)  # type: ignore[union-attr]


def test_another_worker_goes_on_after_one_was_killed(start: Start, runner: Runner, device: Device) -> None:
    run = start(measurements=7)
    for _ in range(3):
        SearchWorker().look()  # forgets all it knew
        measure_all(runner, device)
    while SearchWorker().look():
        measure_all(runner, device)
    run.refresh_from_db()
    assert (run.measurements_spent, run.measurements_reserved) == (7, 0)
    assert run.status == RunStatus.FINISHED


def test_a_look_at_a_run_does_not_read_again_what_is_known_of_it(start: Start) -> None:
    """There is one each half second, and most find its kernels under way."""
    run, worker = start(), SearchWorker()
    worker.look()
    with CaptureQueriesContext(connection) as first:
        Stepper(run)
    with CaptureQueriesContext(connection) as later:
        worker.look()
    texts = [{query["sql"] for query in found.captured_queries} for found in (first, later)]
    assert texts[0]
    assert not texts[0] & texts[1]


def test_a_cancelled_run_enters_nothing(start: Start, runner: Runner, device: Device) -> None:
    run = start(measurements=9, enters_best=True)
    worker = SearchWorker()
    worker.look()
    measure_all(runner, device)
    runs.cancel(run=run, user=run.user)
    worker.look()
    assert not Submission.objects.exists()


def test_a_refused_entry_is_noted_and_not_tried_again(start: Start, runner: Runner, device: Device) -> None:
    run = start(measurements=4, enters_best=True)
    stepper = Stepper(run)
    while stepper.step():
        measure_all(runner, device)
    Device.objects.filter(pk=device.pk).update(is_open=False)
    SearchWorker().look()
    SearchWorker().look()
    assert not Submission.objects.exists()
    (note,) = run.events.filter(kind="entered")
    assert "was not entered" in note.document["message"]
    assert note.document["submission"] is None


def test_a_run_whose_steps_fail_is_paused_and_the_others_go_on(
    start: Start, runner: Runner, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, fine = start(measurements=5), start(measurements=5)
    original = Stepper.step

    def step(self: Stepper) -> bool:
        if self._run == broken.pk:
            raise RuntimeError("no such luck")
        return original(self)

    monkeypatch.setattr(Stepper, "step", step)
    worker = SearchWorker()
    while worker.look():
        measure_all(runner, device)
    for run in (broken, fine):
        run.refresh_from_db()
    assert (broken.status, fine.status) == (RunStatus.PAUSED, RunStatus.FINISHED)
    assert "site's own fault" in broken.stop_message


def test_a_run_that_is_resumed_has_all_its_tries_again(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    run, worker = start(), SearchWorker()

    def fail(self: Stepper) -> bool:
        raise RuntimeError("no such luck")

    monkeypatch.setattr(Stepper, "step", fail)
    for tries in (1, 2, 3):
        worker.look()
        run.refresh_from_db()
        assert run.status == (RunStatus.RUNNING if tries < 3 else RunStatus.PAUSED)
    for _ in range(2):  # at once, and after a look that saw the run paused, with two tries used
        assert runs.resume(run=run, user=run.user)
        worker.look()
        worker.look()
        run.refresh_from_db()
        assert run.status == RunStatus.RUNNING
        runs.pause(run=run, user=run.user)
        worker.look()
