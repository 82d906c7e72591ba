"""Waiting until processes that get something ready have done so."""

import time
from collections.abc import Callable, Iterable

import psutil

from runners.sandbox import process_tree
from tests.processes import command_line

_AT_REST = 1.0  # seconds in which next to nothing ran
_NEXT_TO_NOTHING = 20e6  # nanoseconds: an open CUDA context keeps threads that wake now and then


def wait_until_at_rest(pids: Callable[[], Iterable[int]], patience: float = 30.0) -> None:
    """Until next to nothing runs in ``pids``, or ``patience`` seconds have passed."""
    end = time.monotonic() + patience
    before: float | None = None
    while time.monotonic() < end:
        spent = process_tree.run_nanoseconds(pids())
        # Less than before: one of them ended, and what comes in its place has yet to start.
        if before is not None and abs(spent - before) < _NEXT_TO_NOTHING:
            return
        before = spent
        time.sleep(_AT_REST)


def supervisors(root: int) -> list[int]:
    """Processes below ``root`` that wait for jobs or do them, sandboxes and all."""
    found: set[int] = set()
    for process in psutil.Process(root).children(recursive=True):
        if "runners.supervisor" in command_line(process):
            found |= {process.pid, *process_tree.descendants(process.pid)}
    return sorted(found)
