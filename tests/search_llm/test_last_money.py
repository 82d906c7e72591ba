"""A run whose money pays for no writer any more measures what waits, and pays for nothing beside it."""

from collections.abc import Mapping
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import F

from leaderboard.models import TaskVersion
from leaderboard.search.llm.models import ParentProfile
from leaderboard.search.models import SearchRun
from leaderboard.search.plan import Plan
from leaderboard.search.services import runs
from leaderboard.search.services.limits import Limits
from leaderboard.search.services.stepping import Stepper
from runners.models import Device, Runner
from tests.fake_claude import FakeClaude, Reply
from tests.search_llm.conftest import SONNET, code, kernel, purpose
from tests.search_llm.test_profiles import Reader, finish_all
from tests.search_llm.test_runs import access, stepper_of  # noqa: F401  fixtures

pytestmark = pytest.mark.django_db(transaction=True)

#: What is left beside all that is spent: enough for a reader of profiles, too little for a writer.
SHORT: Mapping[str, Mapping[str, Any]] = {
    "money": {"money_limit": F("money_spent") + F("money_reserved") + 0.1},
    "tokens": {"tokens_limit": F("tokens_spent") + F("tokens_reserved") + 12_000},
}


class Content(Reader):
    """All its kernels are as fast as the first, which stays the best."""

    def __call__(self, body: dict[str, Any]) -> Reply:
        if purpose(body) in ("form", "judge", "condense", "diff"):
            return super().__call__(body)
        self.count += 1
        return code(kernel(f"step{self.count}", 5))


@pytest.fixture
def run(owner: User, version: TaskVersion, device: Device, server: FakeClaude) -> SearchRun:
    """Three kernels are considered for one that is measured, so that some always wait."""
    server.responder = Content()
    return runs.start(
        user=owner,
        task_slug="softmax",
        device_slug=device.slug,
        generator="llm",
        plan=Plan(slots=1, multiple=3, islands=1),
        limits=Limits(measurements=12, money=4.0, tokens=2_000_000),
        enters_best=False,
        models=SONNET,
        verifiers="none",
    )


def measured(stepper: Stepper, run: SearchRun, runner: Runner, device: Device) -> None:
    """One generation, and what it queued."""
    spent = SearchRun.objects.get(pk=run.pk).measurements_spent
    assert stepper.step()
    finish_all(runner, device)
    run.refresh_from_db()
    assert run.measurements_spent == spent + 1


@pytest.mark.parametrize("what", SHORT)
def test_the_best_kernel_is_not_profiled(
    what: str, run: SearchRun, server: FakeClaude, runner: Runner, device: Device
) -> None:
    stepper = stepper_of(run, server)
    for _ in range(2):
        measured(stepper, run, runner, device)  # the starter, which is profiled, and the best kernel
    assert ParentProfile.objects.count() == 1
    SearchRun.objects.filter(pk=run.pk).update(**SHORT[what])
    requests = len(server.requests)
    measured(stepper, run, runner, device)
    assert ParentProfile.objects.count() == 1
    assert len(server.requests) == requests


@pytest.mark.parametrize("what", SHORT)
def test_its_profile_is_not_condensed(
    what: str, run: SearchRun, server: FakeClaude, runner: Runner, device: Device
) -> None:
    stepper = stepper_of(run, server)
    for _ in range(3):
        measured(stepper, run, runner, device)
    assert ParentProfile.objects.filter(is_settled=True).count() == 2, "the best kernel's among them"
    limits = {name: getattr(run, name) for name in SHORT[what]}
    SearchRun.objects.filter(pk=run.pk).update(**SHORT[what])
    requests = len(server.requests)
    measured(stepper, run, runner, device)
    assert len(server.requests) == requests
    # With more to spend it is read after all.
    SearchRun.objects.filter(pk=run.pk).update(**limits)
    measured(stepper, run, runner, device)
    assert "condense" in {purpose(body) for body in server.bodies[requests:]}
