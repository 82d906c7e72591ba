"""A submission that runs while it should stand still is found out, whoever woke it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from runners.sandbox import process_tree
from runners.supervisor.clock_cpu import CpuClock
from runners.supervisor.outcome import Ended
from tests.waiting import wait_for

_TREE = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"


@pytest.fixture
def root() -> Iterator[int]:
    """A process whose child is busy; below it, as a sandbox's processes are below the sandbox."""
    outer = subprocess.Popen([sys.executable, "-c", f"import subprocess, sys; {_TREE}"])
    wait_for("the busy child", lambda: bool(process_tree.descendants(outer.pid)))
    yield outer.pid
    process_tree.kill(outer.pid)
    outer.kill()
    outer.wait()


def clock_of(root: int) -> CpuClock:
    child: Any = SimpleNamespace(
        freeze=lambda: process_tree.freeze(root), send=lambda *_: None, expect=lambda *_: {}
    )
    cores: Any = SimpleNamespace(take_all=lambda: None, leave=lambda: None)
    return CpuClock(child, cores)


def test_what_stands_still_may_be_stopped_again(root: int) -> None:
    clock = clock_of(root)

    assert clock.freeze() == clock.freeze() == process_tree.descendants(root)


def ask(clock: CpuClock) -> None:
    clock.request({"do": "arm"}, 1.0, "armed", "Preparing")


@pytest.mark.parametrize("what_follows", [CpuClock.freeze, CpuClock.confirm, ask])
def test_what_ran_since_it_was_stopped_is_refused(
    root: int, what_follows: Callable[[CpuClock], object]
) -> None:
    clock = clock_of(root)
    pids = clock.freeze()
    ran = process_tree.run_nanoseconds(pids)
    os.kill(pids[-1], signal.SIGCONT)
    wait_for("it to run", lambda: process_tree.run_nanoseconds(pids) > ran)

    with pytest.raises(Ended, match=r"ran while it was stopped: for \d.* ms\.$"):
        what_follows(clock)


def test_what_was_let_run_may_have_run(root: int) -> None:
    clock = clock_of(root)
    clock.freeze()
    ask(clock)
    pids = process_tree.descendants(root)
    ran = process_tree.run_nanoseconds(pids)
    wait_for("it to run", lambda: process_tree.run_nanoseconds(pids) > ran)

    clock.confirm()
    ask(clock)
    clock.freeze()
