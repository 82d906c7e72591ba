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
from runners.models import Device, Evaluation, Runner
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
    assert place(last) == QueuePlace(2, pytest.approx(10))
    Runner.objects.create(device=runner.device, host="there", pid=2, tier="T2", heartbeat_at=now)
    assert place(last) == QueuePlace(2, pytest.approx(5))
    evaluation = Evaluation.objects.get(pk=last.evaluation_id)
    with django_assert_num_queries(3):
        queue_place(evaluation)


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
    assert (other.online, other.runners, other.queued, other.running) == (False, 0, 0, 0)
    Runner.objects.update(heartbeat_at=timezone.now() - timedelta(hours=1))
    assert not device_statuses()[0].online
    Runner.objects.update(heartbeat_at=timezone.now(), stopped_at=timezone.now())
    assert not device_statuses()[0].online
