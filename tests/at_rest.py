"""Waiting until processes that get something ready have done so."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from runners.sandbox import process_tree

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
    for pid in process_tree.descendants(root):
        if b"runners.supervisor" in _command(pid):
            found |= {pid, *process_tree.descendants(pid)}
    return sorted(found)


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
