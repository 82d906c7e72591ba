"""What the kernel tells of a tree of processes."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from runners.sandbox import process_tree
from tests.waiting import wait_for


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

    assert wait_for("either to wait for the other", waited, 30)
    assert process_tree.run_nanoseconds(two_on_one_core) > 0


def test_who_is_gone_waited_for_nothing() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()

    assert process_tree.wait_nanoseconds([process.pid]) == 0
