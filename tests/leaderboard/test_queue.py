"""Queue places, waits and device health."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from leaderboard.models import Submission, TaskVersion
from leaderboard.selectors.devices import device_statuses
from leaderboard.selectors.submissions import QueuePlace, queue_place
from leaderboard.services import baselines
from runners.models import Device, Evaluation, Lane, Runner
from runners.services import devices, evaluations

Submit = Callable[..., Submission]


def place(submission: Submission) -> QueuePlace:
    found = queue_place(Evaluation.objects.get(pk=submission.evaluation_id))
    assert found is not None
    return found


def test_first_come_first_served_and_baselines_last(
    submit: Submit, owner: User, version: TaskVersion, runner: Runner
) -> None:
    assert runner.device is not None
    baselines.enqueue_missing(runner.device)
    first, second = submit(owner), submit(owner)
    assert [place(item).position for item in (first, second)] == [1, 2]
    waiting = Submission.objects.exclude(baseline="")
    assert sorted(place(item).position for item in waiting) == [3, 4]
    waits = [place(item).wait_seconds for item in (first, second)]
    assert waits[0] == 0
    assert (waits[1] or 0) > 0


def test_waits_follow_recent_runs_and_are_shared_by_runners(
    submit: Submit, owner: User, runner: Runner, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    done = submit(owner)
    now = timezone.now()
    Evaluation.objects.filter(pk=done.evaluation_id).update(
        status="finished", verdict="passed", started_at=now - timedelta(seconds=10), finished_at=now
    )
    submit(owner)
    last = submit(owner)
    # The one before it takes 10 s, and of two such one is audited: see estimates.audit_rates.
    assert place(last) == QueuePlace(2, pytest.approx(15), pytest.approx(5), True)
    Runner.objects.create(device=runner.device, host="there", pid=2, tier="T2", heartbeat_at=now)
    assert place(last) == QueuePlace(2, pytest.approx(7.5), pytest.approx(2.5), True)
    evaluation = Evaluation.objects.get(pk=last.evaluation_id)
    with django_assert_num_queries(4):
        queue_place(evaluation)


def test_audits_that_overtake_are_counted_before_and_after_they_are_queued(
    submit: Submit, owner: User, runner: Runner
) -> None:
    """A run that waits as the next one is overtaken by the audit of the one that runs."""
    done = [submit(owner) for _ in range(4)]
    now = timezone.now()
    for submission in done:
        Evaluation.objects.filter(pk=submission.evaluation_id).update(
            status="finished", verdict="passed", started_at=now - timedelta(seconds=10), finished_at=now
        )
    # Of three entered runs one was audited: (1 + 1) / (3 + 1).
    Evaluation.objects.filter(pk=done[0].evaluation_id).update(lane=Lane.AUDIT)
    running, waiting = submit(owner), submit(owner)
    evaluations.claim_next(queue=runner.device.slug, runner=runner)
    assert place(waiting) == QueuePlace(1, pytest.approx(10), pytest.approx(5), True)
    # It ended, and its audit stands in the queue.
    Evaluation.objects.filter(pk=running.evaluation_id).update(
        status="queued", lane=Lane.AUDIT, runner=None, lease_expires_at=None
    )
    assert place(waiting) == QueuePlace(2, pytest.approx(10), 0, True)
    evaluations.claim_next(queue=runner.device.slug, runner=runner)
    assert place(waiting) == QueuePlace(1, pytest.approx(5), 0, True)


@pytest.mark.parametrize("mode", ["test", "benchmark", "profile"])
def test_runs_that_rank_nowhere_bring_no_audit(
    submit: Submit, owner: User, runner: Runner, mode: str
) -> None:
    submit(owner, mode=mode)
    found = place(submit(owner))
    assert (found.position, found.audit_seconds, found.may_grow) == (2, 0, False)


def test_what_has_started_has_no_place(submit: Submit, owner: User, runner: Runner) -> None:
    submission = submit(owner)
    waiting = submit(owner)
    evaluations.claim_next(queue=runner.device.slug, runner=runner)
    assert queue_place(Evaluation.objects.get(pk=submission.evaluation_id)) is None
    assert place(waiting).position == 1
    assert (place(waiting).wait_seconds or 0) > 0


def test_no_wait_is_told_while_no_runner_is_online(submit: Submit, owner: User, device: Device) -> None:
    submit(owner)
    assert place(submit(owner)) == QueuePlace(2, None)
    assert device_statuses()[0].wait_seconds is None


def test_checks_wait_for_the_runners_of_checks(submit: Submit, owner: User, runner: Runner) -> None:
    waiting = submit(owner, mode="check")
    assert place(waiting) == QueuePlace(1, None)
    Runner.objects.create(device=None, host="there", pid=2, tier="T2", heartbeat_at=timezone.now())
    assert place(waiting) == QueuePlace(1, 0)


def test_a_device_names_what_a_new_run_overtakes_apart_from_what_it_waits_for(
    submit: Submit, owner: User, version: TaskVersion, runner: Runner
) -> None:
    assert runner.device is not None
    baselines.enqueue_missing(runner.device)
    status = device_statuses()[0]
    assert (status.queued, status.ahead, status.overtaken, status.wait_seconds) == (2, 0, 2, 0)
    submit(owner)
    status = device_statuses()[0]
    assert (status.queued, status.ahead, status.overtaken) == (3, 1, 2)
    assert status.wait_seconds == place(submit(owner)).wait_seconds


def test_a_device_tells_that_its_runner_measures_it_first(runner: Runner) -> None:
    assert runner.device is not None
    devices.note_measuring(device=runner.device, runner=runner)
    status = device_statuses()[0]
    assert (status.is_measuring, status.online, status.runners) == (True, False, 1)
    devices.note_measuring(device=runner.device, runner=None)
    status = device_statuses()[0]
    assert (status.is_measuring, status.online) == (False, True)
    devices.note_measuring(device=runner.device, runner=runner)
    Runner.objects.update(stopped_at=timezone.now())  # it died meanwhile
    assert not device_statuses()[0].is_measuring


def test_devices_are_online_while_a_runner_beats_its_heart(
    submit: Submit, owner: User, runner: Runner, gpu: Device
) -> None:
    submit(owner)
    submit(owner)
    submit(owner, mode="check")  # compile-only work waits elsewhere
    evaluations.claim_next(queue=runner.device.slug, runner=runner)
    cpu, other = device_statuses()
    assert (cpu.online, cpu.runners, cpu.queued, cpu.running) == (True, 1, 1, 1)
    assert (cpu.wait_seconds or 0) > 0
    assert (cpu.may_grow, other.may_grow) == (True, False)
    assert (other.online, other.runners, other.queued, other.running) == (False, 0, 0, 0)
    Runner.objects.update(heartbeat_at=timezone.now() - timedelta(hours=1))
    assert not device_statuses()[0].online
    Runner.objects.update(heartbeat_at=timezone.now(), stopped_at=timezone.now())
    assert not device_statuses()[0].online
