"""The softmax task with its real template, a device, and runs that are measured without an engine."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from leaderboard.catalog.loader import CATALOG, load
from leaderboard.models import TaskVersion
from leaderboard.search.models import SearchRun
from leaderboard.search.plan import Plan
from leaderboard.search.services import runs
from leaderboard.search.services.limits import Limits
from leaderboard.services import tasks
from runners.contract.vocabulary import DeviceKind, Verdict
from runners.models import Device, Evaluation, Lane, Runner
from runners.services import evaluations

PLAN = Plan(slots=3, multiple=4)


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_user("owner")


@pytest.fixture
def outsider(db: None) -> User:
    return User.objects.create_user("outsider")


@pytest.fixture
def version(db: None) -> TaskVersion:
    tasks.load_task(source=load(CATALOG / "softmax"))
    return TaskVersion.objects.get(task__slug="softmax", is_current=True)


@pytest.fixture
def device(db: None) -> Device:
    return Device.objects.create(slug="cpu-test", kind=DeviceKind.CPU, name="a test CPU", facts={"cores": 2})


@pytest.fixture
def runner(device: Device) -> Runner:
    return Runner.objects.create(device=device, host="here", pid=1, tier="T2", heartbeat_at=timezone.now())


@pytest.fixture
def start(owner: User, version: TaskVersion, device: Device, settings: Any) -> Callable[..., SearchRun]:
    """A run with small generations; changed by keywords of its limits."""
    settings.DEVICE_SECONDS_PER_DAY = 10_000
    settings.SITE_DEVICE_SECONDS_PER_DAY = 100_000

    def make(
        *,
        plan: Plan = PLAN,
        enters_best: bool = False,
        user: User = owner,
        is_public: bool = False,
        **limits: Any,
    ) -> SearchRun:
        wanted = Limits(**{"measurements": 10, "device_seconds": 5000.0, **limits})
        return runs.start(
            user=user,
            task_slug="softmax",
            device_slug=device.slug,
            plan=plan,
            limits=wanted,
            is_public=is_public,
            enters_best=enters_best,
        )

    return make


def made_up_seconds(source: str) -> float:
    """A time that depends on the text alone, so that a search has something to find."""
    return 1e-3 * (1 + sum(source.encode()) % 997 / 100)


def claimed(runner: Runner, device: Device) -> Iterator[Evaluation]:
    """Evaluations of searches, as a runner takes them."""
    while evaluation := evaluations.claim_next(queue=device.slug, runner=runner):
        assert evaluation.lane == Lane.SEARCH
        yield evaluation


def finish(
    evaluation: Evaluation,
    *,
    verdict: Verdict = Verdict.PASSED,
    device_seconds: float = 12.5,
    seconds: float | None = None,
) -> None:
    """``seconds`` of the kernel: made up where none are given."""
    seconds = seconds or made_up_seconds(evaluation.kernel.source)
    score = {"seconds": seconds, "ci_low": seconds * 0.99, "ci_high": seconds * 1.01, "roofline": 0.5}
    passed = verdict == Verdict.PASSED
    result = {
        "verdict": verdict,
        "reason": "" if passed else "It went wrong.",
        "device_seconds": device_seconds,
        "benchmarks": [],
        "score": score if passed else None,
    }
    assert evaluations.finish(evaluation=evaluation, result=result)


def measure_all(runner: Runner, device: Device) -> int:
    """Finish whatever waits; how many that were."""
    return sum(1 for evaluation in claimed(runner, device) if finish(evaluation) is None)
