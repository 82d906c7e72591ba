"""queued → running → finished: claims, leases, and exactly one verdict."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection, connections
from django.utils import timezone

from runners.contract.limits import MAX_ATTEMPTS
from runners.contract.vocabulary import Mode
from runners.models import Evaluation, EvaluationStatus, Lane, Runner
from runners.services import evaluations, sweeping
from runners.signals import evaluation_finished

pytestmark = pytest.mark.django_db
PASSED = {"verdict": "passed", "reason": "", "device_seconds": 1.5}


@contextmanager
def finished_signals() -> Iterator[list[Evaluation]]:
    heard: list[Evaluation] = []

    def hear(evaluation: Evaluation, **kwargs: object) -> None:
        heard.append(evaluation)

    evaluation_finished.connect(hear)
    try:
        yield heard
    finally:
        evaluation_finished.disconnect(hear)


def expire(evaluation: Evaluation) -> None:
    past = timezone.now() - timedelta(seconds=1)
    Evaluation.objects.filter(pk=evaluation.pk).update(lease_expires_at=past)


def test_claim_takes_the_smallest_lane_then_the_oldest(
    enqueue: Callable[..., Evaluation], make_runner: Callable[[], Runner]
) -> None:
    baseline, first, second = enqueue(lane=Lane.BASELINE), enqueue(), enqueue()
    runner = make_runner()
    order = [evaluations.claim_next(queue=first.queue, runner=runner) for _ in range(4)]
    assert [item and item.pk for item in order] == [first.pk, second.pk, baseline.pk, None]


def test_compile_only_work_waits_on_a_queue_of_its_own(
    enqueue: Callable[..., Evaluation], make_runner: Callable[[], Runner]
) -> None:
    check = enqueue(mode=Mode.CHECK)
    assert evaluations.claim_next(queue=check.device.slug, runner=make_runner()) is None
    assert evaluations.claim_next(queue="check", runner=make_runner()) == check


@pytest.mark.django_db(transaction=True)
def test_two_runners_never_claim_the_same_row(
    enqueue: Callable[..., Evaluation], make_runner: Callable[[], Runner]
) -> None:
    for _ in range(12):
        enqueue()
    queue = "cpu-test"
    runners = [make_runner(), make_runner()]

    def claim_all(runner: Runner) -> list[object]:
        claimed = []
        while (evaluation := evaluations.claim_next(queue=queue, runner=runner)) is not None:
            claimed.append(evaluation.pk)
        connections.close_all()
        return claimed

    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(claim_all, runners)
    assert len(one) + len(other) == 12
    assert not set(one) & set(other)


def test_finish_stores_the_verdict_once(
    enqueue: Callable[..., Evaluation], make_runner: Callable[[], Runner]
) -> None:
    enqueue()
    evaluation = evaluations.claim_next(queue="cpu-test", runner=make_runner())
    assert evaluation is not None
    with finished_signals() as heard:
        assert evaluations.finish(evaluation=evaluation, result=PASSED)
        assert not evaluations.finish(evaluation=evaluation, result={**PASSED, "verdict": "wrong"})
    assert [item.verdict for item in heard] == ["passed"]
    evaluation.refresh_from_db()
    assert (evaluation.status, evaluation.verdict, evaluation.device_seconds) == ("finished", "passed", 1.5)
    assert evaluation.lease_expires_at is None


def test_a_runner_that_lost_its_lease_cannot_write(
    enqueue: Callable[..., Evaluation], make_runner: Callable[[], Runner]
) -> None:
    enqueue()
    lost = evaluations.claim_next(queue="cpu-test", runner=make_runner())
    assert lost is not None
    expire(lost)
    assert sweeping.sweep() == 1
    taken = evaluations.claim_next(queue="cpu-test", runner=make_runner())
    assert taken is not None
    assert taken.attempts == 2
    with finished_signals() as heard:
        assert not evaluations.finish(evaluation=lost, result={**PASSED, "verdict": "wrong"})
        assert not evaluations.extend_lease(evaluation=lost)
        evaluations.record_event(evaluation=lost, event={"type": "activity", "text": "late"})
        assert evaluations.finish(evaluation=taken, result=PASSED)
    assert [item.verdict for item in heard] == ["passed"]


def test_a_live_lease_is_left_alone(
    enqueue: Callable[..., Evaluation], make_runner: Callable[[], Runner]
) -> None:
    enqueue()
    evaluation = evaluations.claim_next(queue="cpu-test", runner=make_runner())
    assert evaluation is not None
    assert evaluations.extend_lease(evaluation=evaluation)
    assert sweeping.sweep() == 0


def test_poison_ends_after_its_attempts(
    enqueue: Callable[..., Evaluation], make_runner: Callable[[], Runner]
) -> None:
    enqueue()
    with finished_signals() as heard:
        for _ in range(MAX_ATTEMPTS):
            evaluation = evaluations.claim_next(queue="cpu-test", runner=make_runner())
            assert evaluation is not None
            expire(evaluation)
            sweeping.sweep()
    assert evaluations.claim_next(queue="cpu-test", runner=make_runner()) is None
    assert [(item.verdict, "3 attempts" in item.reason) for item in heard] == [("internal_error", True)]


def hold(evaluation: Evaluation, seconds: float) -> None:
    """As if the runner had claimed it ``seconds`` before its lease ended."""
    ended = timezone.now() - timedelta(seconds=1)
    Evaluation.objects.filter(pk=evaluation.pk).update(
        started_at=ended - timedelta(seconds=seconds), lease_expires_at=ended
    )


def test_each_abandoned_attempt_counts_as_device_time(
    enqueue: Callable[..., Evaluation], make_runner: Callable[[], Runner]
) -> None:
    enqueue()
    for used in (40, 80, 120):
        evaluation = evaluations.claim_next(queue="cpu-test", runner=make_runner())
        assert evaluation is not None
        hold(evaluation, 40)
        sweeping.sweep()
        evaluation.refresh_from_db()
        assert evaluation.device_seconds == pytest.approx(used)
    assert evaluation.verdict == "internal_error"


def test_abandoned_compile_only_work_held_no_device(
    enqueue: Callable[..., Evaluation], make_runner: Callable[[], Runner]
) -> None:
    enqueue(mode=Mode.CHECK)
    evaluation = evaluations.claim_next(queue="check", runner=make_runner())
    assert evaluation is not None
    hold(evaluation, 40)
    sweeping.sweep()
    evaluation.refresh_from_db()
    assert evaluation.device_seconds == 0


def test_a_shutdown_gives_the_work_back_uncounted(
    enqueue: Callable[..., Evaluation], make_runner: Callable[[], Runner]
) -> None:
    enqueue()
    evaluation = evaluations.claim_next(queue="cpu-test", runner=make_runner())
    assert evaluation is not None
    assert evaluations.give_back(evaluation=evaluation)
    evaluation.refresh_from_db()
    assert (evaluation.status, evaluation.attempts, evaluation.runner) == ("queued", 0, None)


def test_cancelling_a_queued_evaluation_ends_it_at_once(enqueue: Callable[..., Evaluation]) -> None:
    evaluation = enqueue()
    with finished_signals() as heard:
        assert evaluations.request_cancel(evaluation=evaluation)
    assert [item.verdict for item in heard] == ["cancelled"]


def test_cancelling_a_running_evaluation_stops_it_at_the_next_look(
    enqueue: Callable[..., Evaluation], make_runner: Callable[[], Runner]
) -> None:
    enqueue()
    evaluation = evaluations.claim_next(queue="cpu-test", runner=make_runner())
    assert evaluation is not None
    assert evaluations.request_cancel(evaluation=evaluation)
    assert not evaluations.extend_lease(evaluation=evaluation)
    assert evaluations.finish(evaluation=evaluation, result={**PASSED, "verdict": "cancelled"})
    assert not evaluations.request_cancel(evaluation=evaluation)


def test_a_cancelled_run_whose_runner_died_is_not_started_again(
    enqueue: Callable[..., Evaluation], make_runner: Callable[[], Runner]
) -> None:
    enqueue()
    evaluation = evaluations.claim_next(queue="cpu-test", runner=make_runner())
    assert evaluation is not None
    evaluations.request_cancel(evaluation=evaluation)
    expire(evaluation)
    sweeping.sweep()
    evaluation.refresh_from_db()
    assert evaluation.verdict == "cancelled"


def test_releasing_a_runner_takes_its_work_up_without_waiting_for_the_lease(
    enqueue: Callable[..., Evaluation], make_runner: Callable[[], Runner]
) -> None:
    enqueue()
    runner = make_runner()
    evaluation = evaluations.claim_next(queue="cpu-test", runner=runner)
    assert evaluation is not None
    sweeping.release_runner(runner=runner)
    evaluation.refresh_from_db()
    assert evaluation.status == EvaluationStatus.QUEUED


def test_each_event_raises_the_sequence_number(
    enqueue: Callable[..., Evaluation], make_runner: Callable[[], Runner]
) -> None:
    enqueue()
    evaluation = evaluations.claim_next(queue="cpu-test", runner=make_runner())
    assert evaluation is not None
    before = evaluation.seq
    evaluations.record_event(
        evaluation=evaluation, event={"type": "stage", "stage": "compile", "status": "started"}
    )
    evaluations.record_event(
        evaluation=evaluation, event={"type": "stage", "stage": "compile", "status": "passed", "seconds": 0.5}
    )
    stored = Evaluation.objects.get(pk=evaluation.pk)
    assert stored.seq == evaluation.seq == before + 2
    assert stored.progress["stages"] == [{"stage": "compile", "status": "passed", "seconds": 0.5}]


def test_claiming_costs_a_fixed_number_of_queries(
    enqueue: Callable[..., Evaluation],
    make_runner: Callable[[], Runner],
    django_assert_num_queries: Callable[..., object],
) -> None:
    for _ in range(5):
        enqueue()
    runner = make_runner()
    with django_assert_num_queries(5):  # savepoint, select, update, release, read with its relations
        evaluations.claim_next(queue="cpu-test", runner=runner)
    assert connection.vendor == "postgresql"


def test_the_sequence_number_stays_in_step_when_a_cancel_comes_between(
    enqueue: Callable[..., Evaluation], make_runner: Callable[[], Runner]
) -> None:
    enqueue()
    evaluation = evaluations.claim_next(queue="cpu-test", runner=make_runner())
    assert evaluation is not None
    evaluations.request_cancel(evaluation=Evaluation.objects.get(pk=evaluation.pk))
    evaluations.record_event(evaluation=evaluation, event={"type": "activity", "text": "stopping"})
    assert evaluation.seq == Evaluation.objects.get(pk=evaluation.pk).seq


def test_the_sweeper_rings_once_per_idle_runner_and_never_for_an_absent_one(
    enqueue: Callable[..., Evaluation],
    make_runner: Callable[[], Runner],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rung: list[str] = []
    monkeypatch.setattr(sweeping, "ring", rung.append)
    for _ in range(5):
        enqueue()
    long_ago = timezone.now() - timedelta(hours=1)
    Evaluation.objects.update(queued_at=long_ago)
    sweeping.sweep()
    assert rung == []
    busy, _idle = make_runner(), make_runner()
    evaluations.claim_next(queue="cpu-test", runner=busy)
    sweeping.sweep()
    assert rung == ["cpu-test"]
