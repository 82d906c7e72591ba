"""A run that is stopped leaves nothing to be measured, whoever dies or takes a step in the meantime."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection

from leaderboard.models import SiteSpend, Spend
from leaderboard.search.models import RunStatus, SearchEvent, SearchRun, StopReason
from leaderboard.search.selectors.states import FoldedRun
from leaderboard.search.services import ending, runs
from leaderboard.search.services.stepping import Stepper
from runners.contract.vocabulary import Verdict
from runners.models import Device, Evaluation, EvaluationStatus, Runner
from runners.services import evaluations
from tests.search.conftest import finish, measure_all

Start = Callable[..., SearchRun]


@pytest.fixture
def measuring(start: Start, runner: Runner, device: Device) -> SearchRun:
    """A run with one kernel that is measured and two that are queued."""
    run = start(measurements=20, wall_seconds=60.0)
    stepper = Stepper(run)
    stepper.step()
    measure_all(runner, device)
    stepper.step()
    assert evaluations.claim_next(queue=device.slug, runner=runner)
    return run


def cancel(run: SearchRun) -> None:
    runs.cancel(run=run, user=run.user)


def let_time_pass(run: SearchRun) -> None:
    SearchRun.objects.filter(pk=run.pk).update(wall_seconds_spent=61)
    Stepper(run).step()


def overspend(run: SearchRun) -> None:
    SearchRun.objects.filter(pk=run.pk).update(device_seconds_spent=run.device_seconds_limit)
    Stepper(run).step()


@pytest.mark.parametrize(
    ("stop", "reason"),
    [
        (cancel, StopReason.CANCELLED),
        (let_time_pass, StopReason.WALL_SECONDS),
        (overspend, StopReason.DEVICE_SECONDS),
    ],
)
@pytest.mark.parametrize("survived", [0, 1])
def test_a_process_that_is_killed_while_it_stops_a_run_has_done_nothing(
    measuring: SearchRun,
    runner: Runner,
    device: Device,
    monkeypatch: pytest.MonkeyPatch,
    stop: Callable[[SearchRun], None],
    reason: StopReason,
    survived: int,
) -> None:
    """Or else the run had ended, and what it had queued would be measured for nobody."""
    original, asked = evaluations.request_cancel, list[Evaluation]()

    def killed(*, evaluation: Evaluation) -> bool:
        if len(asked) == survived:
            raise KeyboardInterrupt
        asked.append(evaluation)
        return original(evaluation=evaluation)

    with monkeypatch.context() as patch:
        patch.setattr(evaluations, "request_cancel", killed)
        with pytest.raises(KeyboardInterrupt):
            stop(measuring)
    measuring.refresh_from_db()
    assert (measuring.status, measuring.measurements_reserved) == (RunStatus.RUNNING, 3)
    assert Evaluation.objects.filter(status=EvaluationStatus.QUEUED).count() == 2
    assert not Evaluation.objects.exclude(cancel_requested_at=None).exists()
    # Whoever asks again, or takes the next step, ends it and all that it has under way.
    stop(measuring)
    assert evaluations.claim_next(queue=device.slug, runner=runner) is None
    running = Evaluation.objects.get(status=EvaluationStatus.RUNNING)
    assert running.cancel_requested_at is not None
    finish(running, verdict=Verdict.CANCELLED)
    measuring.refresh_from_db()
    assert (measuring.status, measuring.stop_reason) == (RunStatus.FINISHED, reason)
    assert (measuring.measurements_spent, measuring.measurements_reserved) == (1, 0)
    assert measuring.device_seconds_reserved == pytest.approx(0)
    assert [row.reserved_seconds for row in (Spend.objects.get(), SiteSpend.objects.get())] == [0, 0]
    events = list(measuring.events.order_by("seq"))
    assert [event.seq for event in events] == list(range(1, measuring.seq + 1))
    assert sum(event.kind == SearchEvent.Kind.FINISHED for event in events) == 1
    assert not FoldedRun(measuring).catch_up().in_flight


def at_its_first_look(monkeypatch: pytest.MonkeyPatch, act: Callable[[], Any]) -> list[int]:
    """Have another process ``act`` once ``ending`` knows what is under way; how much each look saw."""
    original, looks = ending._under_way, list[int]()

    def looking(run: SearchRun) -> Any:
        found = original(run)
        looks.append(len(found))
        if len(looks) == 1:
            thread = threading.Thread(target=act_apart)
            thread.start()
            thread.join()
        return found

    def act_apart() -> None:
        act()
        connection.close()

    monkeypatch.setattr(ending, "_under_way", looking)
    return looks


@pytest.mark.django_db(transaction=True)
def test_a_step_that_comes_while_a_run_is_cancelled_is_stopped_with_it(
    start: Start, owner: User, runner: Runner, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start()
    looks = at_its_first_look(monkeypatch, Stepper(run).step)
    assert runs.cancel(run=run, user=owner)
    assert looks == [0, 1, 1, 0]
    assert evaluations.claim_next(queue=device.slug, runner=runner) is None
    run.refresh_from_db()
    assert (run.stop_reason, run.generations, run.measurements_reserved) == (StopReason.CANCELLED, 1, 0)
    assert Spend.objects.get().reserved_seconds == 0


@pytest.mark.django_db(transaction=True)
def test_a_run_that_ends_by_itself_meanwhile_keeps_what_it_measures(
    measuring: SearchRun, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_its_first_look(monkeypatch, lambda: ending.finish(run=measuring, reason=StopReason.CHANGED))
    assert not runs.cancel(run=measuring, user=owner)
    measuring.refresh_from_db()
    assert (measuring.stop_reason, measuring.measurements_reserved) == (StopReason.CHANGED, 3)
    assert Evaluation.objects.filter(status=EvaluationStatus.QUEUED).count() == 2
