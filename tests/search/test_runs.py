"""Durable runs: the event log is the run, budgets are exact, and nothing is paid for twice."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Sum

from leaderboard.models import Spend, TaskVersion
from leaderboard.search.models import RunStatus, SearchCandidate, SearchRun, StopReason
from leaderboard.search.plan import Plan
from leaderboard.search.selectors.states import FoldedRun
from leaderboard.search.services import runs
from leaderboard.search.services.limits import Limits
from leaderboard.search.services.outcomes import MOST_FAULTS
from leaderboard.search.services.stepping import Stepper
from leaderboard.services.errors import Refusal
from runners.contract.vocabulary import Verdict
from runners.models import Device, Evaluation, EvaluationStatus, Runner
from tests.search.conftest import claimed, finish, measure_all

Start = Callable[..., SearchRun]


def run_to_end(run: SearchRun, runner: Runner, device: Device) -> SearchRun:
    stepper = Stepper(run)
    while stepper.step():
        measure_all(runner, device)
    run.refresh_from_db()
    return run


def test_a_run_measures_the_starter_first_and_ends_with_its_budget(
    start: Start, runner: Runner, device: Device
) -> None:
    run = run_to_end(start(measurements=10), runner, device)
    assert (run.status, run.stop_reason) == (RunStatus.FINISHED, StopReason.MEASUREMENTS)
    assert (run.measurements_spent, run.measurements_reserved) == (10, 0)
    assert run.device_seconds_spent == pytest.approx(125)
    assert run.device_seconds_reserved == 0
    first = run.candidates.get(number=0)
    assert (first.operator, first.parameters, first.seconds) == ("start", {}, run.starter_seconds)
    measured = run.candidates.filter(status=SearchCandidate.Status.MEASURED)
    assert run.best_seconds == min(item.seconds for item in measured)
    # The plan considers four candidates for each that is measured, the starter aside.
    assert run.considered == run.candidates.count() == 1 + 9 * 4
    assert Spend.objects.get().spent_seconds == pytest.approx(125)
    assert Spend.objects.get().reserved_seconds == 0


def test_the_event_log_alone_tells_the_state(start: Start, runner: Runner, device: Device) -> None:
    run = run_to_end(start(measurements=7), runner, device)
    assert [event.seq for event in run.events.order_by("seq")] == list(range(1, run.seq + 1))
    state = FoldedRun(run).catch_up()
    assert len(state.candidates) == run.considered
    assert len(state.outcomes) == 7
    assert state.best is not None
    assert 2 ** state.best[1] == pytest.approx(run.best_seconds)
    assert not state.in_flight


def told(run: SearchRun) -> list[tuple[Any, ...]]:
    """All that a run considered, decided and measured."""
    names = (
        "number", "digest", "parameters", "operator", "parents", "generation", "island", "action", "reason",
        "forecast_seconds", "p_better", "status", "seconds",
    )  # fmt: skip
    return list(run.candidates.order_by("number").values_list(*names))


def test_a_new_process_goes_on_where_the_old_one_was_killed(
    start: Start, runner: Runner, device: Device
) -> None:
    """Same seed, same outcomes: whether each step has a process of its own makes no difference at all."""
    once = run_to_end(start(measurements=10), runner, device)
    # Other runs of the template are history, which the second run must not have where the first had none.
    SearchRun.objects.filter(pk=once.pk).update(template_digest="another")
    again = start(measurements=10)
    steps = 0
    while Stepper(again).step():
        measure_all(runner, device)
        steps += 1
    again.refresh_from_db()
    assert steps > 4
    assert again.measurements_spent == once.measurements_spent == 10
    assert told(again) == told(once)
    one, other = FoldedRun(once).catch_up(), FoldedRun(again).catch_up()
    assert other.outcomes == one.outcomes
    assert list(other.outcomes) == list(one.outcomes), "in another order"
    assert [(event.seq, event.kind) for event in again.events.order_by("seq")] == [
        (event.seq, event.kind) for event in once.events.order_by("seq")
    ]


def test_a_step_that_is_taken_twice_counts_once(start: Start, runner: Runner, device: Device) -> None:
    run = start(measurements=10)
    one, other = Stepper(run), Stepper(run)
    assert one.step()
    assert not other.step()
    assert Evaluation.objects.count() == 1
    measure_all(runner, device)
    assert other.step()
    assert not one.step()
    run.refresh_from_db()
    assert run.measurements_reserved == 3
    assert Evaluation.objects.filter(status=EvaluationStatus.QUEUED).count() == 3


def test_a_step_that_was_outrun_leaves_nothing_behind(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    run = start()
    stepper = Stepper(run)
    original = stepper._generation

    def pausing(*args: Any) -> Any:
        generation = original(*args)
        runs.pause(run=run, user=run.user)
        return generation

    monkeypatch.setattr(stepper, "_generation", pausing)
    assert not stepper.step()
    run.refresh_from_db()
    assert (run.status, run.measurements_reserved) == (RunStatus.PAUSED, 0)
    assert Evaluation.objects.count() == SearchCandidate.objects.count() == 0
    assert Spend.objects.aggregate(total=Sum("reserved_seconds"))["total"] in (None, 0)


def test_wrong_kernels_cost_a_measurement_and_ours_do_not(
    start: Start, runner: Runner, device: Device
) -> None:
    run = start(measurements=10)
    stepper = Stepper(run)
    stepper.step()
    measure_all(runner, device)
    stepper.step()
    verdicts = iter([Verdict.WRONG, Verdict.INTERNAL_ERROR, Verdict.PASSED])
    for evaluation in claimed(runner, device):
        finish(evaluation, verdict=next(verdicts))
    run.refresh_from_db()
    assert (run.measurements_spent, run.measurements_reserved) == (3, 0)
    assert run.device_seconds_spent == pytest.approx(4 * 12.5)
    kinds = [event.kind for event in run.events.order_by("seq")][-3:]
    assert sorted(kinds) == ["dropped", "measured", "measured"]
    state = FoldedRun(run).catch_up()
    assert list(state.outcomes.values()).count(None) == 1
    assert len(state.dropped) == 1


def test_failures_of_ours_pause_the_run(start: Start, runner: Runner, device: Device) -> None:
    run = start(measurements=10, plan=Plan(slots=4, multiple=2))
    stepper = Stepper(run)
    stepper.step()
    measure_all(runner, device)
    stepper.step()
    for evaluation in claimed(runner, device):
        finish(evaluation, verdict=Verdict.INTERNAL_ERROR)
    run.refresh_from_db()
    assert run.status == RunStatus.PAUSED
    assert f"{MOST_FAULTS} runs failed" in run.stop_message
    assert not stepper.step()


def test_the_budget_of_device_seconds_is_never_passed(start: Start, runner: Runner, device: Device) -> None:
    """A first run may take its whole deadline of 240 s, later ones twice what the others took."""
    run = run_to_end(start(measurements=100, device_seconds=300.0), runner, device)
    assert run.stop_reason == StopReason.DEVICE_SECONDS
    assert run.device_seconds_spent + 30 > 240
    assert run.device_seconds_spent <= 300


def test_pause_resume_and_cancel(start: Start, owner: User, runner: Runner, device: Device) -> None:
    run = start(measurements=10)
    stepper = Stepper(run)
    stepper.step()
    measure_all(runner, device)
    stepper.step()
    assert runs.pause(run=run, user=owner)
    assert not runs.pause(run=run, user=owner)
    measure_all(runner, device)  # what was under way is finished, and counted
    run.refresh_from_db()
    assert (run.measurements_spent, run.going_since) == (4, None)
    assert not stepper.step()
    assert runs.resume(run=run, user=owner)
    assert stepper.step()
    assert runs.cancel(run=run, user=owner)
    run.refresh_from_db()
    assert (run.status, run.stop_reason) == (RunStatus.FINISHED, StopReason.CANCELLED)
    assert (run.measurements_spent, run.measurements_reserved) == (4, 0)
    assert not Evaluation.objects.exclude(status=EvaluationStatus.FINISHED).exists()
    assert Spend.objects.get().reserved_seconds == 0
    assert not runs.cancel(run=run, user=owner)


def test_more_budget_reopens_a_run_that_had_used_it_up(
    start: Start, owner: User, runner: Runner, device: Device
) -> None:
    run = run_to_end(start(measurements=4), runner, device)
    runs.extend(run=run, user=owner, more=Limits(measurements=3, device_seconds=1000, wall_seconds=100))
    run = run_to_end(run, runner, device)
    assert (run.measurements_spent, run.stop_reason) == (7, StopReason.MEASUREMENTS)
    runs.cancel(run=run, user=owner)
    assert len(set(run.candidates.values_list("digest", flat=True))) == run.considered


def test_a_cancelled_run_is_over_for_good(start: Start, owner: User) -> None:
    run = start()
    runs.cancel(run=run, user=owner)
    with pytest.raises(Refusal, match="ended for good"):
        runs.extend(run=run, user=owner, more=Limits())


def test_a_run_goes_on_only_on_the_same_device(start: Start, owner: User, device: Device) -> None:
    run = start()
    runs.pause(run=run, user=owner)
    Device.objects.filter(pk=device.pk).update(facts={"cores": 2, "compiler": "another"})
    with pytest.raises(Refusal, match="compiler or driver has changed"):
        runs.resume(run=run, user=owner)


def test_a_run_under_way_ends_when_the_task_changes(start: Start, version: TaskVersion) -> None:
    run = start()
    TaskVersion.objects.filter(pk=version.pk).update(is_current=False)
    assert Stepper(run).step()
    run.refresh_from_db()
    assert (run.status, run.stop_reason) == (RunStatus.FINISHED, StopReason.CHANGED)
    assert "new version" in run.stop_message
    assert not Evaluation.objects.exists()


def test_time_that_is_up_ends_the_run(start: Start, runner: Runner, device: Device) -> None:
    run = start(measurements=10, wall_seconds=60.0)
    stepper = Stepper(run)
    stepper.step()
    SearchRun.objects.filter(pk=run.pk).update(wall_seconds_spent=61)
    assert stepper.step()
    run.refresh_from_db()
    assert run.stop_reason == StopReason.WALL_SECONDS
    assert not Evaluation.objects.exclude(status=EvaluationStatus.FINISHED).exists()


def test_selected_candidates_are_stopped(start: Start, owner: User, runner: Runner, device: Device) -> None:
    run = start(measurements=10)
    stepper = Stepper(run)
    stepper.step()
    measure_all(runner, device)
    stepper.step()
    waiting = run.candidates.filter(status=SearchCandidate.Status.WAITING).order_by("number")[:2]
    measuring = run.candidates.filter(status=SearchCandidate.Status.MEASURING).order_by("number")[:1]
    numbers = [item.number for item in [*waiting, *measuring]]
    assert runs.stop_candidates(run=run, user=owner, numbers=numbers) == 3
    statuses = run.candidates.filter(number__in=numbers).values_list("status", flat=True)
    assert set(statuses) == {SearchCandidate.Status.DROPPED}
    measure_all(runner, device)
    run = run_to_end(run, runner, device)
    assert run.measurements_spent == 10
    assert not run.candidates.filter(number__in=numbers, status=SearchCandidate.Status.MEASURED).exists()


def test_only_the_owner_may_change_a_run(start: Start, outsider: User) -> None:
    run = start()
    for call in (
        lambda: runs.pause(run=run, user=outsider),
        lambda: runs.resume(run=run, user=outsider),
        lambda: runs.cancel(run=run, user=outsider),
        lambda: runs.extend(run=run, user=outsider, more=Limits()),
        lambda: runs.stop_candidates(run=run, user=outsider, numbers=[0]),
    ):
        with pytest.raises(PermissionDenied):
            call()


def test_other_runs_of_the_template_are_history(start: Start, runner: Runner, device: Device) -> None:
    from leaderboard.search.selectors.states import histories

    first = run_to_end(start(measurements=10), runner, device)
    second = start()
    (known,) = histories(second)
    assert len(known) == 9  # the starter has no place on the grid
    assert all(seconds is None or math.isfinite(seconds) for seconds in known.values())
    assert min(seconds for seconds in known.values() if seconds) >= first.best_seconds
