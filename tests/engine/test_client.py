"""The caller's side: events arrive, cancelling works, and whatever dies becomes a verdict."""

import os
import select
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from runners.contract.job import Job
from runners.contract.vocabulary import Mode
from runners.sandbox import process_tree
from runners.supervisor.client import run_job
from tests.engine.conftest import CPP, GOOD_CPP

pytestmark = pytest.mark.sandbox


@pytest.fixture(autouse=True)
def others() -> Iterator[set[int]]:
    """Children of the test process that are not ours: the suite's database, say. No more may be there at
    the end.
    """
    before = set(process_tree.descendants(os.getpid()))
    yield before
    assert set(process_tree.descendants(os.getpid())) <= before


MakeJob = Callable[..., Job]
HANGING = "#include <unistd.h>\n" + CPP.format("while (true) usleep(1000);")


def test_events_come_in_order_and_the_document_is_returned(make_job: MakeJob) -> None:
    events: list[dict[str, Any]] = []
    document = run_job(make_job(GOOD_CPP), on_event=events.append, should_stop=lambda: False)
    assert document["verdict"] == "passed", document["reason"]
    types = [event["type"] for event in events]
    assert types[:2] == ["stage", "stage"]
    assert types.count("test") == 3
    assert "result" not in types


def test_cancel_ends_a_hanging_kernel(make_job: MakeJob) -> None:
    running = threading.Event()

    def on_event(event: dict[str, Any]) -> None:
        if event["type"] == "plan":
            running.set()

    document = run_job(make_job(HANGING), on_event=on_event, should_stop=running.is_set)
    assert document["verdict"] == "cancelled"


def test_killed_supervisor_takes_everything_along(make_job: MakeJob, others: set[int]) -> None:
    victims: list[int] = []

    def kill_the_supervisor(event: dict[str, Any]) -> None:
        if event["type"] == "plan":
            (supervisor,) = set(process_tree.children(os.getpid())) - others
            victims.extend(map(os.pidfd_open, process_tree.descendants(supervisor)))
            os.kill(supervisor, signal.SIGKILL)

    document = run_job(make_job(HANGING), on_event=kill_the_supervisor, should_stop=lambda: False)
    assert document["verdict"] == "internal_error"
    assert "ended without a result" in document["reason"]
    assert document["device_seconds"] == document["wall_seconds"] > 0
    assert victims
    for victim in victims:
        ended, _, _ = select.select([victim], [], [], 10)
        assert ended, "a process of the sandbox outlived its supervisor"
        os.close(victim)


def test_failing_callback_leaves_no_process(make_job: MakeJob) -> None:
    def fail(event: dict[str, Any]) -> None:
        if event["type"] == "plan":
            raise LookupError("the caller's own")

    with pytest.raises(LookupError):
        run_job(make_job(HANGING), on_event=fail, should_stop=lambda: False)


def test_language_that_the_device_cannot_run_is_refused(make_job: MakeJob) -> None:
    job = make_job("__global__ void k() {}", Mode.CHECK, language="cuda")
    document = run_job(job, on_event=lambda event: None, should_stop=lambda: False)
    assert document["verdict"] == "refused"
    assert document["reason"].endswith("takes no CUDA C++ on CPU devices.")
