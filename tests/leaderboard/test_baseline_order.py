"""In which order the site measures its own references: first the one that somebody's forecasts wait for."""

from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import User

from leaderboard.models import Submission, TaskVersion
from leaderboard.services import baselines, tasks
from runners.models import Device, Runner
from runners.services import evaluations
from tests.leaderboard.conftest import catalog_task


@pytest.fixture
def queued(version: TaskVersion, device: Device) -> None:
    """Both baselines of two tasks, in whichever order the tasks came."""
    tasks.load_task(source=catalog_task("triple"))
    assert baselines.enqueue_missing(device) == 4


def taken(runner: Runner, device: Device) -> Iterator[str]:
    """What a runner of the device takes, in order: the task's slug and the baseline, or a person's name."""
    while found := evaluations.claim_next(queue=device.slug, runner=runner):
        submission = Submission.objects.get(evaluation=found)
        yield f"{submission.version.task.slug} {submission.baseline or submission.user}"


def test_plain_references_come_before_compiled_ones(queued: None, runner: Runner, device: Device) -> None:
    assert [word.split()[1] for word in taken(runner, device)] == ["eager", "eager", "compiled", "compiled"]


@pytest.mark.parametrize(("mode", "is_hurried"), [("ranked", True), ("check", False)])
@pytest.mark.parametrize("slug", ["double", "triple"])
def test_a_tasks_reference_follows_the_first_run_of_a_person(
    queued: None,
    submit: Callable[..., Submission],
    owner: User,
    runner: Runner,
    device: Device,
    slug: str,
    mode: str,
    is_hurried: bool,
) -> None:
    """A check takes no device, and is no reason to hurry."""
    first = Submission.objects.order_by("evaluation__queued_at").first()
    assert first is not None
    submit(owner, task_slug=slug, mode=mode)
    order = list(taken(runner, device))
    if is_hurried:
        assert order[:2] == [f"{slug} owner", f"{slug} eager"]
    else:
        assert order[0] == f"{first.version.task.slug} eager"
    assert len(order) == 4 + is_hurried
