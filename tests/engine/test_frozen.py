"""A submission that runs while it should stand still is found out, whoever woke it."""

import os
import signal
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from runners.sandbox import process_tree
from runners.supervisor.clock_cpu import CpuClock
from runners.supervisor.outcome import Ended
from tests.waiting import wait_for


def clock_of(root: int) -> CpuClock:
    child: Any = SimpleNamespace(
        freeze=lambda: process_tree.freeze(root), send=lambda *_: None, expect=lambda *_: {}
    )
    cores: Any = SimpleNamespace(take_all=lambda: None, leave=lambda: None)
    return CpuClock(child, cores)


def test_what_stands_still_may_be_stopped_again(above_one_that_runs: int) -> None:
    clock = clock_of(above_one_that_runs)

    assert clock.freeze() == clock.freeze() == process_tree.descendants(above_one_that_runs)


def ask(clock: CpuClock) -> None:
    clock.request({"do": "arm"}, 1.0, "armed", "Preparing")


@pytest.mark.parametrize("what_follows", [CpuClock.freeze, CpuClock.confirm, ask])
def test_what_ran_since_it_was_stopped_is_refused(
    above_one_that_runs: int, what_follows: Callable[[CpuClock], object]
) -> None:
    clock = clock_of(above_one_that_runs)
    pids = clock.freeze()
    ran = process_tree.run_nanoseconds(pids)
    os.kill(pids[-1], signal.SIGCONT)
    wait_for("it to run", lambda: process_tree.run_nanoseconds(pids) > ran)

    with pytest.raises(Ended, match=r"ran while it was stopped: for \d.* ms\.$"):
        what_follows(clock)


def test_what_was_let_run_may_have_run(above_one_that_runs: int) -> None:
    clock = clock_of(above_one_that_runs)
    clock.freeze()
    ask(clock)
    pids = process_tree.descendants(above_one_that_runs)
    ran = process_tree.run_nanoseconds(pids)
    wait_for("it to run", lambda: process_tree.run_nanoseconds(pids) > ran)

    clock.confirm()
    ask(clock)
    clock.freeze()
