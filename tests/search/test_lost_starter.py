"""A starter that the site lost is measured once more: without its time no speed-up can be told."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from leaderboard.models import Spend
from leaderboard.search.models import RunStatus, SearchCandidate, SearchEvent, SearchRun, StopReason
from leaderboard.search.pages.overview import overview_of
from leaderboard.search.selectors.states import FoldedRun
from leaderboard.search.services import runs
from leaderboard.search.services.stepping import Stepper
from runners.contract.limits import MAX_ATTEMPTS
from runners.contract.vocabulary import Verdict
from runners.models import Device, Evaluation, Runner
from runners.services import evaluations
from tests.search.conftest import claimed, finish, measure_all

Start = Callable[..., SearchRun]
Status = SearchCandidate.Status
Kind = SearchEvent.Kind


def lose(runner: Runner, device: Device) -> Evaluation:
    """Have the starter, and nothing else, queued, and its runner go silent at every attempt."""
    taken = [next(claimed(runner, device))]
    while taken[-1].attempts < MAX_ATTEMPTS:
        evaluations.take_up_abandoned(evaluation=taken[-1], max_attempts=MAX_ATTEMPTS)
        taken.append(next(claimed(runner, device)))
    evaluations.take_up_abandoned(evaluation=taken[-1], max_attempts=MAX_ATTEMPTS)
    assert {item.pk for item in taken} == {taken[0].pk}
    found = Evaluation.objects.get(pk=taken[0].pk)
    assert found.verdict == Verdict.INTERNAL_ERROR
    return found


def finished(run: SearchRun, runner: Runner, device: Device) -> SearchRun:
    """Each step by a process that knows nothing."""
    while Stepper(run).step():
        measure_all(runner, device)
    run.refresh_from_db()
    return run


def test_it_is_queued_again_within_the_budget_and_before_anything_else(
    start: Start, runner: Runner, device: Device
) -> None:
    run = start(measurements=5)
    assert Stepper(run).step()
    lost = lose(runner, device)
    run.refresh_from_db()
    assert (run.measurements_spent, run.measurements_reserved, run.starter_seconds) == (0, 0, None)
    one, other = Stepper(run), Stepper(run)
    assert one.step()
    assert not other.step(), "another process was first"
    run.refresh_from_db()
    starter = run.candidates.get()  # nothing else was considered
    assert (starter.status, starter.number, starter.generation) == (Status.MEASURING, 0, 0)
    assert starter.evaluation_id != lost.pk
    assert "lost" in starter.reason
    assert (run.generations, run.considered, run.measurements_reserved) == (2, 1, 1)
    assert run.device_seconds_reserved == pytest.approx(starter.reserved_seconds)
    assert Spend.objects.get().reserved_seconds == pytest.approx(starter.reserved_seconds)
    assert measure_all(runner, device) == 1
    run = finished(run, runner, device)
    assert (run.stop_reason, run.measurements_spent) == (StopReason.MEASUREMENTS, 5)
    starter.refresh_from_db()
    assert (starter.status, starter.seconds) == (Status.MEASURED, run.starter_seconds)
    assert overview_of(run, is_owner=True).speedup is not None
    spent = sum(item.device_seconds for item in Evaluation.objects.all())
    assert run.device_seconds_spent == pytest.approx(spent)
    assert (run.device_seconds_reserved, Spend.objects.get().reserved_seconds) == (0, 0)
    kinds = list(run.events.order_by("seq").values_list("kind", flat=True))
    assert kinds[:5] == [Kind.STARTED, Kind.GENERATION, Kind.DROPPED, Kind.GENERATION, Kind.MEASURED]
    state = FoldedRun(run).catch_up()
    assert (len(state.outcomes), state.dropped, state.in_flight) == (5, set(), set())


def test_it_is_given_up_when_it_was_lost_twice(start: Start, runner: Runner, device: Device) -> None:
    run = start(measurements=5)
    for _ in range(2):
        assert Stepper(run).step()
        lose(runner, device)
    run = finished(run, runner, device)
    assert (run.starter_seconds, run.measurements_spent) == (None, 5)
    starter = run.candidates.get(number=0)
    assert (starter.is_starter, starter.status) == (True, Status.DROPPED)
    told = run.events.filter(kind=Kind.DROPPED).values_list("document__digest", flat=True)
    assert list(told) == [starter.digest] * 2
    assert overview_of(run, is_owner=True).speedup is None


def test_one_that_a_person_stopped_is_not_measured_again(
    start: Start, owner: User, runner: Runner, device: Device
) -> None:
    run = start(measurements=3)
    assert Stepper(run).step()
    assert runs.stop_candidates(run=run, user=owner, numbers=[0]) == 1
    run = finished(run, runner, device)
    assert (run.starter_seconds, run.candidates.get(number=0).status) == (None, Status.DROPPED)


def test_one_that_was_at_fault_itself_is_not_measured_again(
    start: Start, runner: Runner, device: Device
) -> None:
    run = start(measurements=3)
    assert Stepper(run).step()
    (opening,) = claimed(runner, device)
    finish(opening, verdict=Verdict.RUNTIME_ERROR)
    run = finished(run, runner, device)
    assert (run.starter_seconds, run.candidates.get(number=0).status) == (None, Status.FAILED)
    assert run.measurements_spent == 3


def test_a_cancelled_run_does_not_queue_it_again(start: Start, runner: Runner, device: Device) -> None:
    run = start()
    assert Stepper(run).step()
    lose(runner, device)
    assert runs.cancel(run=run, user=run.user)
    assert not Stepper(run).step()
    run.refresh_from_db()
    assert (run.status, Evaluation.objects.count()) == (RunStatus.FINISHED, 1)
