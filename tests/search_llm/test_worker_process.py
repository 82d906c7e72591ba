"""The real search worker is asked to end while a language model writes."""

import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from leaderboard.models import TaskVersion
from leaderboard.search.llm.models import JournalEntry
from leaderboard.search.models import RunStatus, SearchRun
from leaderboard.search.plan import Plan
from leaderboard.search.services import runs
from leaderboard.search.services.limits import Limits
from runners.models import Device, Runner
from tests.fake_claude import FakeClaude, Reply, error
from tests.processes import commands
from tests.search_llm.conftest import SONNET, purpose
from tests.search_llm.test_runs import access, finish_all, stepper_of  # noqa: F401  fixtures
from tests.search_llm.test_search import Author, thinking
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
#: Kernels of the generation, and how many of them are asked for at once.
SLOTS, AT_ONCE = 6, 4


class Worker:
    """The process, and what it has said."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self.process, self._log = process, log

    def words(self) -> str:
        return self._log.read_text()

    def stop(self) -> None:
        """Asks it to end, and returns once it has heard."""
        self.process.send_signal(signal.SIGTERM)
        try:
            wait_for("the worker to stop asking", lambda: "nothing more is asked" in self.words())
        except AssertionError as silent:
            raise AssertionError(f"{silent}\n{self.words()}") from silent


Work = Callable[..., Worker]


@pytest.fixture
def work(tmp_path: Path, server: FakeClaude) -> Iterator[Work]:
    with commands(tmp_path) as start_command:

        def start(*words: str) -> Worker:
            log = tmp_path / "worker.log"
            with log.open("wb") as file:
                return Worker(start_command("search_worker", *words, stderr=file), log)

        yield start


@pytest.fixture
def run(owner: User, version: TaskVersion, device: Device, runner: Runner, server: FakeClaude) -> SearchRun:
    """Its starter is measured, its first generation is to be written."""
    found = runs.start(
        user=owner,
        task_slug="softmax",
        device_slug=device.slug,
        generator="llm",
        plan=Plan(slots=SLOTS, multiple=1, islands=1),
        limits=Limits(measurements=1 + SLOTS, device_seconds=5000.0, money=4.0, tokens=2_000_000),
        enters_best=False,
        models=SONNET,
        verifiers="none",
    )
    stepper_of(found, server).step()
    finish_all(runner, device)
    return found


@pytest.fixture
def thought() -> Iterator[threading.Event]:
    """Set once the model's kernels are written."""
    event = threading.Event()
    yield event
    event.set()


def asked_for(server: FakeClaude, run: SearchRun, count: int) -> None:
    """Waits until so many kernels were asked for, by what the model got as by the journal."""
    wait_for(f"{count} questions", lambda: len(server.requests) == 1 + count)  # the form's before them
    assert journal(run, "asked").count() == 1 + count


def journal(run: SearchRun, kind: str) -> Any:
    return JournalEntry.objects.filter(run=run, kind=kind)


def test_replies_under_way_are_stored_and_nothing_more_is_asked(
    run: SearchRun, server: FakeClaude, work: Work, thought: threading.Event
) -> None:
    server.responder = thinking(Author(), thought)
    worker = work("--last-seconds", "60")
    asked_for(server, run, AT_ONCE)
    worker.stop()
    thought.set()
    assert worker.process.wait(60) == 0
    assert "leaving with calls under way" not in worker.words()
    replied = journal(run, "replied")
    assert [entry.document["result"] for entry in replied] == ["answer"] * (1 + AT_ONCE)
    assert journal(run, "asked").count() == len(server.requests) == 1 + AT_ONCE
    run.refresh_from_db()
    assert (run.status, run.money_reserved, run.tokens_reserved) == (RunStatus.RUNNING, 0, 0)
    assert run.money_spent == pytest.approx(sum(float(entry.document["cost"]) for entry in replied))
    # The next worker goes on from them.
    assert stepper_of(run, server).step()
    steps = [f"g1.i0.s{place}.t0" for place in range(SLOTS)]
    assert set(journal(run, "asked").values_list("step", flat=True)) >= {"form", *steps}
    assert len(server.requests) == journal(run, "asked").count(), "each was asked once"


def test_a_call_that_goes_on_does_not_keep_the_process(
    run: SearchRun, server: FakeClaude, work: Work, thought: threading.Event
) -> None:
    """Nobody knows what it will have cost: its bound stays set aside, as after a kill."""
    server.responder = thinking(Author(), thought)
    worker = work("--last-seconds", "0")
    asked_for(server, run, AT_ONCE)
    worker.stop()
    assert worker.process.wait(60) == 0
    assert "leaving with calls under way" in worker.words()
    assert [entry.step for entry in journal(run, "replied")] == ["form"]
    asked = journal(run, "asked").exclude(step="form")
    run.refresh_from_db()
    assert run.money_reserved == pytest.approx(sum(float(entry.document["bound"]) for entry in asked))
    assert len(server.requests) == 1 + AT_ONCE


def test_a_call_that_is_refused_after_the_signal_is_not_made_again(
    run: SearchRun, server: FakeClaude, work: Work, thought: threading.Event
) -> None:
    """It cost nothing, and nothing is booked for it."""
    author = Author()

    def busy(body: dict[str, Any]) -> Reply:
        if purpose(body) == "form":
            return author(body)
        return error(529, headers={"retry-after": "0.1"})

    server.responder = thinking(busy, thought)
    worker = work("--last-seconds", "60")
    asked_for(server, run, AT_ONCE)
    worker.stop()
    thought.set()
    assert worker.process.wait(60) == 0
    assert len(server.requests) == 1 + AT_ONCE
    refused = [entry.document for entry in journal(run, "replied").exclude(step="form")]
    assert [(item["result"], float(item["cost"]), item["tokens"]) for item in refused] == [
        ("cancelled", 0, 0)
    ] * AT_ONCE
    run.refresh_from_db()
    assert (run.money_reserved, run.tokens_reserved) == (0, 0)
