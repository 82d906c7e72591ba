"""What the kernel tells of a tree of processes."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.backends.cpp import toolchain
from runners.sandbox import process_tree
from tests.waiting import wait_for

_SOURCE = Path(__file__).with_name("threads_only.cpp")


@pytest.fixture
def two_on_one_core() -> Iterator[list[int]]:
    core = min(os.sched_getaffinity(0))
    code = f"import os\nos.sched_setaffinity(0, {{{core}}})\nwhile True: pass"
    started = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    yield [process.pid for process in started]
    for process in started:
        process.kill()
        process.wait()


def test_who_shares_a_core_is_seen_to_wait(two_on_one_core: list[int]) -> None:
    def waited() -> bool:
        return process_tree.wait_nanoseconds(two_on_one_core) > 20e6

    assert wait_for("either to wait for the other", waited)
    assert process_tree.run_nanoseconds(two_on_one_core) > 0


def test_who_is_gone_waited_for_nothing() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()

    assert process_tree.wait_nanoseconds([process.pid]) == 0


@pytest.fixture
def threads_only(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[int]:
    """A process whose first thread has ended, as threads_only.cpp does it; below one that does nothing."""
    program = str(tmp_path / "threads_only")
    compiler = toolchain.find()
    assert compiler is not None
    subprocess.run([compiler, "-O2", "-std=c++20", "-o", program, str(_SOURCE)], check=True)
    code = f"import subprocess; subprocess.run([{program!r}, {request.param!r}])"
    outer = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert outer.stdout is not None
    assert outer.stdout.readline() == b"ready\n"
    yield outer.pid
    process_tree.kill(outer.pid)
    outer.kill()
    outer.wait()
    outer.stdout.close()


@pytest.mark.parametrize("threads_only", ["chain"], indirect=True)
def test_threads_that_start_each_other_and_end_are_stopped(threads_only: int) -> None:
    for _ in range(100):
        pids = process_tree.freeze(threads_only)
        ran = process_tree.run_nanoseconds(pids)
        assert {process_tree.run_nanoseconds(pids) for _ in range(100)} == {ran}
        assert process_tree.all_still(pids)
        process_tree.thaw(pids)
        assert wait_for("them to run", lambda: process_tree.run_nanoseconds(pids) > ran)  # noqa: B023


@pytest.mark.parametrize("threads_only", ["holds"], indirect=True)
def test_a_process_without_its_first_thread_weighs_what_it_holds(threads_only: int) -> None:
    assert process_tree.weigh(threads_only).memory >= 2**26


def test_what_is_dead_and_not_buried_ran_as_long_as_it_did() -> None:
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    wait_for("it to run", lambda: process_tree.run_nanoseconds([process.pid]) > 20e6)
    os.kill(process.pid, signal.SIGKILL)
    wait_for("its end", lambda: process_tree.all_still([process.pid]))

    assert process_tree.run_nanoseconds([process.pid]) > 20e6
    process.wait()
    assert process_tree.run_nanoseconds([process.pid]) == 0


def test_what_is_marked_as_stopped_and_on_its_core_still_is_waited_for(
    above_one_that_runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that takes a core away in that moment cannot be made to: only what Linux tells is replaced."""
    told = iter([True, True, False])
    monkeypatch.setattr(process_tree, "_on_a_core", lambda pid, thread: next(told, False))

    assert process_tree.freeze(above_one_that_runs)

    assert list(told) == []


def test_who_is_on_a_core_is_told_from_who_waits(above_one_that_runs: int) -> None:
    if not process_tree._places_are_told():
        pytest.skip("this kernel does not tell where threads wait")
    (pid,) = process_tree.descendants(above_one_that_runs)

    assert process_tree._on_a_core(pid, str(pid))
    process_tree.freeze(above_one_that_runs)
    assert not process_tree._on_a_core(pid, str(pid))
