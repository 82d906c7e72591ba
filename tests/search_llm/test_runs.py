"""Durable runs by a language model: every call paid once, money kept, and resumed from the rows alone."""

import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import F
from django.utils import timezone

from leaderboard.management.commands.search_worker import SearchWorker
from leaderboard.models import TaskVersion
from leaderboard.search.llm.database import LOST_AFTER
from leaderboard.search.llm.models import JournalEntry
from leaderboard.search.llm.stories import spend_by_model, story_of
from leaderboard.search.llm.writers import Writer
from leaderboard.search.models import RunStatus, SearchRun, StopReason
from leaderboard.search.plan import Plan
from leaderboard.search.services import runs
from leaderboard.search.services.runs import Limits
from leaderboard.search.services.stepping import Stepper
from runners.models import Device, Runner
from runners.services import evaluations
from surrogate.contract.request import KernelText
from surrogate.llm.config import Config
from surrogate.models import SpendDay
from tests.fake_claude import FakeClaude, Reply, answer, error, refusal, stopped
from tests.search.conftest import claimed
from tests.search_llm.conftest import HAIKU, SONNET, code, kernel, measure, purpose
from tests.search_llm.test_search import FORM, Author
from tests.surrogate_llm.conftest import FakeClock

pytestmark = pytest.mark.django_db(transaction=True)  # the calls' money is booked from other threads

PLAN = Plan(slots=1, multiple=1, islands=1)
Start = Callable[..., SearchRun]


@pytest.fixture(autouse=True)
def access(server: FakeClaude, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.DEVICE_SECONDS_PER_DAY = settings.SITE_DEVICE_SECONDS_PER_DAY = 100_000
    settings.SEARCH_CENTS_PER_USER_DAY = 500
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)


@pytest.fixture
def start(owner: User, version: TaskVersion, device: Device) -> Start:
    def make(*, verifiers: str = "none", enters_best: bool = False, **limits: Any) -> SearchRun:
        wanted = Limits(**{"measurements": 6, "money": 4.0, "tokens": 2_000_000, **limits})
        return runs.start(
            user=owner,
            task_slug="softmax",
            device_slug=device.slug,
            generator="llm",
            plan=PLAN,
            limits=wanted,
            enters_best=enters_best,
            models=SONNET,
            verifiers=verifiers,
        )

    return make


def stepper_of(run: SearchRun, server: FakeClaude, environ: Mapping[str, str] = os.environ) -> Stepper:
    config = Config(api_key="test-key", base_url=server.url, stall_seconds=0.2)
    return Stepper(run, Writer(config, environ, FakeClock()))


def finish_all(runner: Runner, device: Device) -> None:
    for evaluation in claimed(runner, device):
        result = measure(KernelText(evaluation.kernel.language, evaluation.kernel.source))
        score = result["score"]
        if score is not None:
            score["roofline"] = None
        assert evaluations.finish(evaluation=evaluation, result=dict(result))


def test_a_run_ends_within_its_money_with_the_right_best(
    start: Start,
    server: FakeClaude,
    runner: Runner,
    device: Device,
) -> None:
    server.responder = Author()
    server.script(
        FORM,
        error(429, headers={"retry-after": "7"}),
        code(kernel("first", broken="is_wrong")),
        stopped("max_tokens", "```cpp\nextern"),
        refusal(),
        code(kernel("repaired", 4)),
        error(529),
        error(529),
        code(kernel("second", 5)).failing("stall_within"),
        code(kernel("second", 5)).failing("stall_within"),
        code(kernel("third", 20)),
    )
    run = start(measurements=6)
    stepper = stepper_of(run, server)
    while stepper.step():
        finish_all(runner, device)
    run.refresh_from_db()
    assert (run.status, run.stop_reason) == (RunStatus.FINISHED, StopReason.MEASUREMENTS)
    assert server.unused == 0
    assert (run.starter_seconds, run.best_seconds) == (8e-3, pytest.approx(8e-3 / 20))
    assert [item.operator for item in run.candidates.order_by("number")][:3] == [
        "start",
        "translate",
        "repair",
    ]
    replies = JournalEntry.objects.filter(run=run, kind="replied")
    assert run.money_spent == pytest.approx(sum(float(item.document["cost"]) for item in replies))
    assert run.tokens_spent == sum(item.document["tokens"] for item in replies)
    assert (run.money_reserved, run.tokens_reserved) == (0, 0)
    assert 0 < run.money_spent < 4
    day = SpendDay.objects.get()
    assert float(day.spent_usd) == pytest.approx(run.money_spent, abs=1e-4)
    assert day.reserved_usd == 0


def test_a_killed_step_is_taken_up_and_paid_once(
    start: Start,
    server: FakeClaude,
    runner: Runner,
    device: Device,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server.responder = Author()
    run = start(measurements=3)
    stepper_of(run, server).step()
    finish_all(runner, device)
    killed = stepper_of(run, server)

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(killed, "_store", die)
    with pytest.raises(KeyboardInterrupt):
        killed.step()
    asked = len(server.requests)
    spent = SearchRun.objects.get(pk=run.pk).money_spent
    assert stepper_of(run, server).step()
    assert len(server.requests) == asked
    run.refresh_from_db()
    assert (run.money_spent, run.considered) == (spent, 2)


def test_a_call_under_way_is_left_to_its_process_until_that_must_be_dead(
    start: Start,
    server: FakeClaude,
    runner: Runner,
    device: Device,
) -> None:
    server.responder = Author()
    run = start(measurements=3)
    stepper_of(run, server).step()
    finish_all(runner, device)
    document = {"arm": SONNET, "bound": "0.25", "tokens_bound": 20_000, "operator": "translate"}
    JournalEntry.objects.create(run=run, step="g1.i0.s0.t0", kind="asked", document=document)
    SearchRun.objects.filter(pk=run.pk).update(
        money_reserved=F("money_reserved") + 0.25, tokens_reserved=F("tokens_reserved") + 20_000
    )
    assert not stepper_of(run, server).step()
    assert [purpose(body) for body in server.bodies] == ["form"]
    old = timezone.now() - LOST_AFTER - timedelta(seconds=1)
    JournalEntry.objects.filter(step="g1.i0.s0.t0").update(created_at=old)
    assert stepper_of(run, server).step()
    run.refresh_from_db()
    assert (run.money_reserved, run.tokens_reserved) == (0, 0)
    assert run.money_spent > 0.25
    steps = JournalEntry.objects.filter(run=run, kind="asked").values_list("step", flat=True)
    assert sorted(steps) == ["form", "g1.i0.s0.t0", "g1.i0.s0.t1"]


def test_spent_money_ends_the_run_and_more_of_it_reopens_it(
    start: Start,
    server: FakeClaude,
    owner: User,
    runner: Runner,
    device: Device,
) -> None:
    author = Author()
    server.responder = lambda body: (
        answer("x", output_tokens=15_000) if purpose(body) == "form" else author(body)
    )
    run = start(money=0.2)
    stepper = stepper_of(run, server)
    while stepper.step():
        finish_all(runner, device)
    run.refresh_from_db()
    assert (run.status, run.stop_reason) == (RunStatus.FINISHED, StopReason.MONEY)
    assert run.money_spent <= 0.2
    runs.extend(run=run, user=owner, more=Limits(measurements=1, money=1.0, tokens=1))
    assert stepper.step()
    run.refresh_from_db()
    assert run.considered == 2


def test_the_sites_money_for_the_day_pauses_the_run(
    start: Start,
    server: FakeClaude,
    runner: Runner,
    device: Device,
) -> None:
    server.responder = Author()
    run = start()
    stepper = stepper_of(run, server, {"KERNELHUB_CLAUDE_LIMIT_USD": "0.10"})
    while stepper.step():
        finish_all(runner, device)
    run.refresh_from_db()
    assert run.status == RunStatus.PAUSED
    assert "the site's money" in run.stop_message
    assert run.money_spent <= 0.10


def test_a_provider_that_is_down_pauses_the_run_and_resuming_goes_on(
    start: Start,
    server: FakeClaude,
    owner: User,
    runner: Runner,
    device: Device,
) -> None:
    author = Author()

    def down(body: dict[str, Any]) -> Reply:
        return error(500)

    server.responder = down
    run = start(measurements=2)
    stepper = stepper_of(run, server)
    while stepper.step():
        finish_all(runner, device)
    run.refresh_from_db()
    assert run.status == RunStatus.PAUSED
    assert "failed one after the other" in run.stop_message
    server.responder = author
    assert runs.resume(run=run, user=owner)
    stepper = stepper_of(run, server)
    while stepper.step():
        finish_all(runner, device)
    run.refresh_from_db()
    assert (run.stop_reason, run.measurements_spent) == (StopReason.MEASUREMENTS, 2)


def test_a_worker_asks_beside_its_other_work_and_a_candidate_has_its_story(
    start: Start, server: FakeClaude, runner: Runner, device: Device
) -> None:
    author = Author()
    server.responder = author
    run = start(measurements=3, verifiers=HAIKU)
    worker = SearchWorker()
    while SearchRun.objects.filter(pk=run.pk, status=RunStatus.RUNNING).exists():
        worker.look()
        if run.pk in worker._asking:
            worker._asking[run.pk].join()
        finish_all(runner, device)
    run.refresh_from_db()
    assert run.stop_reason == StopReason.MEASUREMENTS
    candidate = run.candidates.get(number=1)
    story = story_of(run, candidate.digest)
    assert story is not None
    assert (story.model, story.operator, story.idea) == (SONNET, "translate", "It does less.")
    assert "Write a first kernel" in story.prompt
    assert candidate.kernel.source in story.reply
    assert {vote["verifier"]: vote["fails"] for vote in story.votes} == {
        "compile": False,
        "memory": False,
        "numerics": False,
    }
    assert story_of(run, run.candidates.get(number=0).digest) is None
    spend = spend_by_model(run)
    assert [item.arm for item in spend] == [SONNET, HAIKU]
    assert sum(item.dollars for item in spend) == pytest.approx(run.money_spent)
