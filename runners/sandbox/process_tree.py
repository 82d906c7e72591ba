"""All descendants of a process: listing, freezing, thawing, killing, weighing. Linux /proc only."""

import contextlib
import os
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_RUNS_NO_MORE = frozenset("TtZX")


class NotFrozenError(RuntimeError):
    """A process kept running although it was told to stop."""


@dataclass(frozen=True)
class Weight:
    """What a tree uses right now: bytes of private memory, processes, threads."""

    memory: int
    processes: int
    threads: int


def descendants(root: int) -> list[int]:
    """Pids of all processes below ``root``, parents first; ``root`` itself is left out."""
    found: list[int] = []
    waiting = [root]
    while waiting:
        below = list(children(waiting.pop()))
        found += below
        waiting += below
    return found


def children(pid: int) -> Iterator[int]:
    """Pids of the processes that ``pid`` started, or none when it is gone."""
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as lines:
                yield from map(int, lines.read().split())
    except (FileNotFoundError, ProcessLookupError):
        return


def freeze(root: int, *, timeout: float = 5.0) -> list[int]:
    """Stops every descendant of ``root``; their pids in order, once all of their threads stand still.

    Two looks in a row must find the same processes, all of them still, and none that ran in between: one that
    was overlooked can wake one that was seen to stand still, and a chain of processes that fork and exit is
    never seen at all. Raises NotFrozenError when that takes longer than ``timeout`` seconds.
    """
    deadline = time.monotonic() + timeout
    before: tuple[list[int], int] | None = None
    while True:
        pids = sorted(descendants(root))
        restless = [pid for pid in pids if not _stands_still(pid)]
        now = (pids, run_nanoseconds(pids))
        if not restless and now == before:
            return pids
        before = None if restless else now
        if time.monotonic() > deadline:
            raise NotFrozenError(f"{len(pids)} processes do not all stop")
        _signal(restless, signal.SIGSTOP)
        for pid in restless:
            while not _stands_still(pid):
                if time.monotonic() > deadline:
                    raise NotFrozenError(f"process {pid} does not stop")
                os.sched_yield()


def thaw(pids: Iterable[int]) -> None:
    _signal(pids, signal.SIGCONT)


def kill(root: int) -> None:
    """Kills every descendant. They are frozen first, so that none can fork away in between."""
    with contextlib.suppress(NotFrozenError):
        freeze(root, timeout=1.0)
    _signal(descendants(root), signal.SIGKILL)


def all_still(pids: Iterable[int]) -> bool:
    return all(_stands_still(pid) for pid in pids)


def run_nanoseconds(pids: Iterable[int]) -> int:
    """CPU time that all threads of ``pids`` have had, as the scheduler counts it."""
    return scheduled_nanoseconds(pids)[0]


def wait_nanoseconds(pids: Iterable[int]) -> int:
    """How long threads of ``pids`` could have run and waited for a core instead."""
    return scheduled_nanoseconds(pids)[1]


def waits(pid: int) -> dict[str, int]:
    """The same for each thread of ``pid`` by itself, nanoseconds."""
    return {thread: waited for thread, _, waited in _schedules(pid)}


def scheduled_nanoseconds(pids: Iterable[int]) -> tuple[int, int]:
    """Run and waited, all threads of ``pids`` together, in one look."""
    run = waited = 0
    for pid in pids:
        for _, more_run, more_waited in _schedules(pid):
            run, waited = run + more_run, waited + more_waited
    return run, waited


def weigh(root: int) -> Weight:
    memory = threads = 0
    pids = descendants(root)
    for pid in pids:
        with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/status") as lines:
            for line in lines:
                if line.startswith("RssAnon:"):
                    memory += int(line.split()[1]) * 1024
                elif line.startswith("Threads:"):
                    threads += int(line.split()[1])
    return Weight(memory, len(pids), threads)


def _schedules(pid: int) -> Iterator[tuple[str, int, int]]:
    """Thread, run and waited: Linux, Documentation/scheduler/sched-stats.rst."""
    for thread in _threads(pid):
        with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/task/{thread}/schedstat") as lines:
            run, waited, _ = map(int, lines.read().split())
            yield thread, run, waited


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []


def _stands_still(pid: int) -> bool:
    for thread in _threads(pid):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/stat", "rb") as content:
            # The name in parentheses may hold anything, a parenthesis too: the state follows the last one.
            if chr(content.read().rpartition(b") ")[2][0]) not in _RUNS_NO_MORE:
                return False
    return True


def _signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
