"""The caller's side: one supervisor process per job, whatever becomes of it. Imports neither torch nor
Django.
"""

import json
import logging
import os
import select
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

from runners.contract import result
from runners.contract.job import Job
from runners.contract.limits import MAX_RESULT_BYTES, device_seconds
from runners.contract.result import ResultDocument
from runners.contract.storable import storable_document
from runners.contract.vocabulary import Verdict
from runners.supervisor.pool import WarmPool
from runners.supervisor.process import Supervisor

logger = logging.getLogger(__name__)

#: The supervisor ends an evaluation itself; past this many seconds more, it is taken to hang.
_GRACE = 20.0
_CANCEL_GRACE = 5.0
_POLL_SECONDS = 0.25


def run_job(
    job: Job,
    *,
    on_event: Callable[[dict[str, Any]], None],
    should_stop: Callable[[], bool],
    pool: WarmPool | None = None,
    tell_killed: bool = False,
) -> ResultDocument:
    """Runs ``job`` to its result document, in a supervisor of ``pool`` where it has one for the device.

    Every text in events and document can be stored: what is no character in PostgreSQL is replaced.
    ``on_event`` gets every event of contract/progress.py but the result. ``should_stop`` is asked several
    times a second; true cancels. Whatever the submission does becomes a verdict; a supervisor that dies
    becomes ``internal_error``. When a callback raises, all processes are killed and the error passes through.

    Raises SupervisorKilled, with ``tell_killed``, where it was killed from outside: not the job's doing.
    """
    start = time.monotonic()
    try:
        return _run(job, on_event, should_stop, pool)
    except SupervisorKilled as fault:
        if tell_killed:
            raise
        return _died(job, str(fault), time.monotonic() - start)


class SupervisorKilled(Exception):
    """The supervisor was killed from outside, or with its nursery, before the result. Its last words."""


class _NeverBegan(Exception):
    """The supervisor ended before it said anything, so that nothing of the job ran. Its last words."""

    def __init__(self, words: str, *, killed: bool) -> None:
        super().__init__(words)
        self.killed = killed


def _run(
    job: Job,
    on_event: Callable[[dict[str, Any]], None],
    should_stop: Callable[[], bool],
    pool: WarmPool | None,
) -> ResultDocument:
    """The document of ``job``. Raises SupervisorKilled."""
    start = time.monotonic()
    if pool is not None:
        supervisor = pool.take(job)
        if supervisor is not None:
            try:
                return _see_through(supervisor, job, on_event, should_stop)
            except _NeverBegan as fault:
                logger.warning("a supervisor started ahead was of no use: %s", fault)
    try:
        return _see_through(Supervisor.start(job.target), job, on_event, should_stop)
    except _NeverBegan as fault:
        if fault.killed:
            raise SupervisorKilled(str(fault)) from fault
        return _died(job, str(fault), time.monotonic() - start)


def _see_through(
    supervisor: Supervisor,
    job: Job,
    on_event: Callable[[dict[str, Any]], None],
    should_stop: Callable[[], bool],
) -> ResultDocument:
    """The document of ``job``. Raises _NeverBegan and SupervisorKilled."""
    start = time.monotonic()
    heard = False
    try:
        supervisor.tell(job.to_document())
        watch = _Watch(supervisor, job.chosen_limits.deadline + _GRACE, should_stop)
        for line in watch.lines():
            heard = True
            event = storable_document(json.loads(line))
            if event["type"] == "result":
                return cast(ResultDocument, event["document"])
            on_event(event)
        seconds = time.monotonic() - start
        if watch.cancelled or watch.overdue:
            return _stopped(job, watch, seconds)
        words, killed = supervisor.last_words()[-300:] or "no message", supervisor.was_killed()
        if not heard:
            raise _NeverBegan(words, killed=killed)
        if killed:
            raise SupervisorKilled(words)
        return _died(job, words, seconds)
    finally:
        supervisor.end()


class _Watch:
    """Reads the supervisor's lines while asking whether to go on."""

    def __init__(self, supervisor: Supervisor, limit: float, should_stop: Callable[[], bool]) -> None:
        self._supervisor = supervisor
        self._deadline = time.monotonic() + limit
        self._should_stop = should_stop
        self.cancelled = False
        self.overdue = False

    def lines(self) -> Iterator[bytes]:
        """Whole lines until the supervisor closes its end, is overdue, or does not heed a cancellation."""
        descriptor = self._supervisor.events
        buffer = bytearray()
        while True:
            ready, _, _ = select.select([descriptor], [], [], _POLL_SECONDS)
            if ready:
                data = os.read(descriptor, 1 << 16)
                if not data or len(buffer) > 2 * MAX_RESULT_BYTES:
                    return
                buffer += data
                *whole, rest = bytes(buffer).split(b"\n")
                buffer = bytearray(rest)
                yield from whole
            if time.monotonic() > self._deadline:
                self.overdue = not self.cancelled
                return
            if not self.cancelled and self._should_stop():
                self.cancelled = True
                self._supervisor.cancel()
                self._deadline = time.monotonic() + _CANCEL_GRACE


def _stopped(job: Job, watch: _Watch, seconds: float) -> ResultDocument:
    if watch.cancelled:
        return failed_document(job, Verdict.CANCELLED, "The evaluation was cancelled.", seconds)
    reason = f"The evaluation took longer than the {job.chosen_limits.deadline:g} s of its mode."
    return failed_document(job, Verdict.TIMEOUT, reason, seconds)


def _died(job: Job, words: str, seconds: float) -> ResultDocument:
    reason = f"The supervisor ended without a result: {words}"
    return failed_document(job, Verdict.INTERNAL_ERROR, reason, seconds)


def failed_document(job: Job, verdict: Verdict, reason: str, seconds: float) -> ResultDocument:
    """The result of an evaluation that no supervisor reported on and that took ``seconds``."""
    return {
        "schema": result.SCHEMA,
        "verdict": verdict,
        "reason": reason,
        "failed_stage": "",
        "mode": str(job.mode),
        "language": str(job.language),
        "spec": job.spec.digest,
        "kernel": "",
        "engine": {},
        "device": dict(job.target.facts),
        "environment": {},
        "stages": [],
        "findings": [],
        "tests": [],
        "benchmarks": [],
        "score": None,
        "output": {"stdout": "", "stderr": "", "truncated": False},
        "device_seconds": device_seconds(job.mode, seconds),
        "wall_seconds": seconds,
    }
