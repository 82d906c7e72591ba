"""All descendants of a process: listing, freezing, thawing, killing, weighing. Linux /proc only."""

import contextlib
import functools
import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_STOPPED = frozenset("Tt")
_RUNS_NO_MORE = _STOPPED | frozenset("ZX")
_NOWHERE = b"0"  # in wchan: it runs, or waits for a core, or Linux does not tell
_SECONDS_TO_WAIT = 0.5  # until a thread that waits is found waiting
_THREAD_COUNT = 17  # field 20 of /proc/PID/stat, of which 3 is the first after the name
_CPUCLOCK_SCHED = 2  # of a process, by Linux' posix-timers.h


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
    threads: list[str] = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        threads = os.listdir(f"/proc/{pid}/task")
    for thread in threads:
        # One that ended meanwhile hides none of the others' children: its own went to another thread.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            with open(f"/proc/{pid}/task/{thread}/children") as lines:
                below = lines.read().split()
            yield from map(int, below)


def freeze(root: int, *, timeout: float = 5.0) -> list[int]:
    """Stops every descendant of ``root``; their pids in order, once all of their threads stand still.

    Each is told to stop, whatever it seems to be: threads that start each other and end are gone whenever
    somebody looks. Then two looks in a row must find the same processes, all of them still, and none that ran
    in between: one that was overlooked can wake one that was seen to stand still. Raises NotFrozenError when
    that takes longer than ``timeout`` seconds.
    """
    deadline = time.monotonic() + timeout
    told: set[int] = set()
    before: tuple[list[int], int] | None = None
    while True:
        pids = sorted(descendants(root))
        second = before is not None
        restless = [pid for pid in pids if pid not in told or not _stands_still(pid, off_its_core=second)]
        now = (pids, run_nanoseconds(pids))
        if not restless and now == before:
            return pids
        before = None if restless else now
        if time.monotonic() > deadline:
            raise NotFrozenError(f"{len(pids)} processes do not all stop")
        _signal(restless, signal.SIGSTOP)
        told.update(restless)
        for pid in restless:
            while not _stands_still(pid):
                if time.monotonic() > deadline:
                    raise NotFrozenError(f"process {pid} does not stop")
                os.sched_yield()
                _signal([pid], signal.SIGSTOP)  # again: SIGCONT from another takes back what is pending


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
    """CPU time of ``pids`` together, to the nanosecond: also of threads that run right now, of those that
    ended, and of the dead that nobody has buried.
    """
    run = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            run += time.clock_gettime_ns(~pid << 3 | _CPUCLOCK_SCHED)
    return run


def wait_nanoseconds(pids: Iterable[int]) -> int:
    """How long threads of ``pids`` could have run and waited for a core instead."""
    return sum(waited for pid in pids for waited in waits(pid).values())


def waits(pid: int) -> dict[str, int]:
    """The same for each thread of ``pid`` by itself: Linux, Documentation/scheduler/sched-stats.rst."""
    found = {}
    for thread in _threads(pid):
        with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/task/{thread}/schedstat") as lines:
            _, waited, _ = map(int, lines.read().split())
            found[thread] = waited
    return found


def weigh(root: int) -> Weight:
    memory = threads = 0
    pids = descendants(root)
    for pid in pids:
        more_memory, more_threads = _memory_and_threads(pid)
        memory, threads = memory + more_memory, threads + more_threads
    return Weight(memory, len(pids), threads)


def _memory_and_threads(pid: int) -> tuple[int, int]:
    """Of one process. Where its first thread has ended, another one tells of the memory."""
    found = (0, 0)
    for path in (f"/proc/{pid}/status", *(f"/proc/{pid}/task/{thread}/status" for thread in _threads(pid))):
        memory = threads = None
        with contextlib.suppress(OSError, ValueError), open(path) as lines:
            for line in lines:
                if line.startswith("RssAnon:"):
                    memory = int(line.split()[1]) * 1024
                elif line.startswith("Threads:"):
                    threads = int(line.split()[1])
        found = (memory or 0, threads or found[1])
        if memory is not None:
            break
    return found


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []


def _stands_still(pid: int, *, off_its_core: bool = False) -> bool:
    """Whether all of its threads do; a process that is gone does. One that loses threads meanwhile does not,
    nor one that has more than were listed, nor, where that is asked, one that has yet to leave its core.
    """
    threads = _threads(pid)
    count = 0
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/stat", "rb") as content:
                # The name in parentheses may hold anything, a parenthesis too: fields follow the last one.
                fields = content.read().rpartition(b") ")[2].split()
            state = chr(fields[0][0])
            if state not in _RUNS_NO_MORE or (off_its_core and state in _STOPPED and _on_a_core(pid, thread)):
                return False
        except OSError:
            return not os.path.exists(f"/proc/{pid}")
        count = int(fields[_THREAD_COUNT])
    return count == len(threads)


def _on_a_core(pid: int, thread: str) -> bool:
    """Whether a stopped thread has yet to leave its core. False where Linux does not tell.

    It is marked as stopped a moment before it goes, and may run for that moment whenever the host of a
    virtual machine lets it: what it ran by then is no reason to accuse it. Linux names where a thread waits
    only once it is on no core and in no queue for one (get_wchan, kernel/sched/core.c).
    """
    if not _places_are_told():
        return False
    with open(f"/proc/{pid}/task/{thread}/wchan", "rb") as place:
        return place.read() == _NOWHERE


@functools.cache
def _places_are_told() -> bool:
    """Whether this kernel tells where threads wait, asked of one of our own."""
    over = threading.Event()
    waiting = threading.Thread(target=over.wait, daemon=True)
    waiting.start()
    try:
        deadline = time.monotonic() + _SECONDS_TO_WAIT
        while time.monotonic() < deadline:
            with (
                contextlib.suppress(OSError),
                open(f"/proc/self/task/{waiting.native_id}/wchan", "rb") as place,
            ):
                if place.read() != _NOWHERE:
                    return True
            time.sleep(0)  # lets it get there
        return False
    finally:
        over.set()
        waiting.join()


def _signal(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
