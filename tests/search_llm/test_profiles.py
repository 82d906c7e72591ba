"""Profiles of the kernels that a model builds on: run once, condensed once, shown, and paid for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db.models import Sum
from django.test import Client

from leaderboard.models import Spend
from leaderboard.search.llm.condensing import MOST_FINDINGS, MOST_READ, findings_of, readable
from leaderboard.search.llm.journal import FileJournal
from leaderboard.search.llm.models import ParentProfile
from leaderboard.search.llm.stories import findings_of_candidate
from leaderboard.search.models import RunStatus, SearchEvent, SearchRun, StopReason
from leaderboard.search.plan import Plan, Policy
from leaderboard.search.services import profiles, runs
from runners.contract.vocabulary import Mode, Verdict
from runners.models import Device, Evaluation, EvaluationStatus, Runner
from runners.services import evaluations
from surrogate.contract.request import KernelText
from tests.fake_claude import FakeClaude, Reply, answer
from tests.search.conftest import claimed
from tests.search_llm.conftest import MakeSearch, document, measure, purpose
from tests.search_llm.test_runs import access, start, stepper_of  # noqa: F401  fixtures
from tests.search_llm.test_search import Author

Start = Callable[..., SearchRun]
#: What a reader of the numbers would say, and what must then stand in prompts.
FINDING = "Memory is at 31 % of its ceiling: read each row once."


def profile_document(kernel: KernelText | None = None) -> Any:
    """A profile-mode result, as large as real ones may be."""
    found: Any = document(Verdict.PASSED, 5e-3)
    found["profile"] = {
        "case": "wide",
        "seconds": 5e-3,
        "floor_seconds": 1.5e-3,
        "memory_share": 0.31,
        "nearer": "memory",
        "profiler": "torch.profiler",
        "table": "Self CPU time\n" + "row\n" * 20_000,
        "counters": "no GPU here",
    }
    found["compile"] = {"log": "", "functions": [{"name": "kernel", "registers": 40, "listing": "x" * 10**5}]}
    found["trace"] = "A" * 10**6
    return found


class Reader(Author):
    def __call__(self, body: dict[str, Any]) -> Reply:
        if purpose(body) == "condense":
            return answer({"findings": [FINDING, "A second one."]})
        return super().__call__(body)


def texts(server: FakeClaude, kind: str) -> list[str]:
    bodies = [body for body in server.bodies if purpose(body) == kind]
    return [body["messages"][0]["content"][0]["text"] for body in bodies]


def test_what_is_sent_of_a_profile_is_bounded() -> None:
    text = readable(profile_document())
    assert len(text) == MOST_READ
    for word in ("Case wide", "memory_share: 0.31", '"registers": 40', "no GPU here", "Self CPU time"):
        assert word in text
    assert "xxx" not in text
    assert readable({}) == readable({"profile": None}) == readable({"profile": "x"}) == ""


@pytest.mark.parametrize("data", [None, "x", {}, {"findings": "x"}, {"findings": [1, " "]}, {"other": []}])
def test_an_answer_without_findings_is_none(data: Any) -> None:
    assert findings_of(data) == ""


def test_findings_are_few_and_short() -> None:
    lines = findings_of({"findings": ["a\n  b", *["x" * 10_000] * 9]}).splitlines()
    assert lines[0] == "- a b"
    assert len(lines) == MOST_FINDINGS
    assert all(len(line) < 410 for line in lines)


def test_a_search_on_this_machine_condenses_each_profile_once(
    make_search: MakeSearch, server: FakeClaude, journal_file: Path
) -> None:
    server.responder = Reader()
    looked_at: list[str] = []

    def profile(kernel: KernelText) -> Any:
        looked_at.append(kernel.source)
        return profile_document()

    written = make_search(journal=FileJournal(journal_file, {}), profile=profile)
    written.search.run(6)
    assert len(looked_at) == len(set(looked_at)) == len(texts(server, "condense")) > 1
    shown = [text for kind in ("diff", "rewrite") for text in texts(server, kind)]
    assert any(FINDING in text for text in shown)
    assert all("memory_share" not in text for text in shown), "the numbers stay out of the prompts"
    assert journal_file.stat().st_size < 300_000, "no raw trace is kept"
    # Resumed, nothing is run or asked again.
    requests = len(server.requests)
    again = make_search(journal=FileJournal(journal_file, {}), profile=profile)
    again.search.run(6)
    assert len(server.requests) == requests
    assert len(looked_at) == len(set(looked_at))
    assert again.report()["money_spent"] == written.report()["money_spent"]


def test_independent_samples_have_no_profiles(make_search: MakeSearch, server: FakeClaude) -> None:
    server.responder = Reader()
    plan = Plan(policy=Policy.RANDOM, slots=1, islands=1)
    make_search(plan=plan, profile=lambda _: pytest.fail("it is profiled")).search.run(3)
    assert texts(server, "condense") == []


def finish_all(runner: Runner, device: Device) -> None:
    """Measures what waits, and profiles what is to be profiled."""
    for evaluation in claimed(runner, device):
        kernel = KernelText(evaluation.kernel.language, evaluation.kernel.source)
        is_profile = evaluation.mode == Mode.PROFILE
        result = dict(profile_document() if is_profile else measure(kernel))
        result.pop("trace", None)
        if result["score"] is not None:
            result["score"]["roofline"] = None
        result["device_seconds"] = 7.0 if is_profile else 2.0
        assert evaluations.finish(evaluation=evaluation, result=result)


@pytest.mark.django_db(transaction=True)
def test_a_durable_run_profiles_its_best_kernels_and_pays_for_it(
    client: Client,
    start: Start,  # noqa: F811
    server: FakeClaude,
    runner: Runner,
    device: Device,
) -> None:
    server.responder = Reader()
    run = start(measurements=6)
    while stepper_of(run, server).step():  # each step by a process that knows nothing
        finish_all(runner, device)
    run.refresh_from_db()
    assert run.stop_reason == StopReason.MEASUREMENTS
    rows = list(ParentProfile.objects.filter(run=run))
    assert len(rows) == len({row.digest for row in rows}) > 1
    assert all(row.is_settled for row in rows)
    assert (run.measurements_spent, run.measurements_reserved) == (6, 0)
    assert run.device_seconds_spent == pytest.approx(6 * 2.0 + 7.0 * len(rows))
    assert run.device_seconds_reserved == pytest.approx(0)
    day = Spend.objects.aggregate(spent=Sum("spent_seconds"), held=Sum("reserved_seconds"))
    assert day == {"spent": pytest.approx(run.device_seconds_spent), "held": pytest.approx(0)}
    told = run.events.filter(kind=SearchEvent.Kind.PROFILED)
    assert [event.document["digest"] for event in told.order_by("seq")] == [row.digest for row in rows]
    for row in rows:
        profiles.record(evaluation=row.evaluation)  # a second telling
    assert told.count() == len(rows)
    # Condensed once each, but for what nobody built on any more.
    steps = list(run.llm_entries.filter(kind="asked", step__startswith="profile.").values_list("step"))
    assert len(texts(server, "condense")) == len(steps) == len(set(steps)) >= 1
    assert any(FINDING in text for kind in ("diff", "rewrite") for text in texts(server, kind))
    # Pages tell it with the kernel.
    told_of = {row.digest: findings_of_candidate(run, row.digest) for row in rows}
    assert sum(FINDING in text for text in told_of.values()) == len(steps)
    shown = next(digest for digest, text in told_of.items() if text)
    client.force_login(run.user)
    page = client.get(f"/searches/{run.pk}/candidates/{run.candidates.get(digest=shown).number}/")
    assert page.status_code == 200
    assert "Its profile, condensed" in page.content.decode()
    assert "Self CPU time" in page.content.decode()


@pytest.fixture
def profiling(start: Start, server: FakeClaude, runner: Runner, device: Device) -> SearchRun:  # noqa: F811
    """A run whose first best kernel waits to be profiled."""
    server.responder = Reader()
    run = start(measurements=6)
    stepper = stepper_of(run, server)
    stepper.step()
    finish_all(runner, device)
    assert stepper.step()
    assert Evaluation.objects.filter(mode=Mode.PROFILE, status=EvaluationStatus.QUEUED).count() == 1
    return run


@pytest.mark.django_db(transaction=True)
def test_a_cancelled_run_stops_its_profile(profiling: SearchRun) -> None:
    run = profiling
    runs.cancel(run=run, user=run.user)
    run.refresh_from_db()
    assert not Evaluation.objects.exclude(status=EvaluationStatus.FINISHED).exists()
    assert run.device_seconds_reserved == pytest.approx(0)
    assert Spend.objects.get().reserved_seconds == pytest.approx(0)


@pytest.mark.django_db(transaction=True)
def test_a_profile_that_uses_up_the_device_seconds_stops_what_is_queued(
    profiling: SearchRun, runner: Runner, device: Device
) -> None:
    """Also in a run that takes no step, as when it is paused."""
    run = profiling
    runs.pause(run=run, user=run.user)
    measuring, profiling = claimed(runner, device)
    assert (measuring.mode, profiling.mode) == (Mode.BENCHMARK, Mode.PROFILE)
    assert evaluations.give_back(evaluation=measuring)
    result = {**profile_document(), "device_seconds": run.device_seconds_limit}
    del result["trace"]
    assert evaluations.finish(evaluation=profiling, result=result)
    assert evaluations.claim_next(queue=device.slug, runner=runner) is None
    run.refresh_from_db()
    assert (run.status, run.measurements_reserved) == (RunStatus.PAUSED, 0)
    assert run.device_seconds_spent == pytest.approx(2.0 + run.device_seconds_limit)
    assert run.device_seconds_reserved == pytest.approx(0)


@pytest.mark.django_db(transaction=True)
def test_a_run_without_seconds_for_a_profile_goes_on_without(
    start: Start,  # noqa: F811
    server: FakeClaude,
    runner: Runner,
    device: Device,
) -> None:
    """A first profile may take its whole deadline of 240 s, which this run never has beside a measurement."""
    server.responder = Reader()
    run = start(measurements=3, device_seconds=260.0)
    stepper = stepper_of(run, server)
    while stepper.step():
        finish_all(runner, device)
    run.refresh_from_db()
    assert (run.stop_reason, run.measurements_spent) == (StopReason.MEASUREMENTS, 3)
    assert not ParentProfile.objects.exists()
