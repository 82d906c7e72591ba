"""The caller's side: one supervisor process per job, whatever becomes of it. Imports neither torch nor
Django.
"""

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, cast

from runners.contract import result
from runners.contract.job import Job
from runners.contract.limits import MAX_RESULT_BYTES, device_seconds
from runners.contract.result import ResultDocument
from runners.contract.vocabulary import DeviceKind, Verdict
from runners.sandbox import nvidia, process_tree

#: The supervisor ends an evaluation itself; past this many seconds more, it is taken to hang.
_GRACE = 20.0
_CANCEL_GRACE = 5.0
_POLL_SECONDS = 0.25
_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")
_ROOT = str(Path(__file__).resolve().parents[2])


def run_job(
    job: Job,
    *,
    on_event: Callable[[dict[str, Any]], None],
    should_stop: Callable[[], bool],
) -> ResultDocument:
    """Runs ``job`` to its result document.

    Every text in events and document can be stored: what is no character in PostgreSQL is replaced.
    ``on_event`` gets every event of contract/progress.py but the result. ``should_stop`` is asked several
    times a second; true cancels. Whatever the submission does becomes a verdict; a supervisor that dies
    becomes ``internal_error``. When a callback raises, all processes are killed and the error passes through.
    """
    start = time.monotonic()
    read, write = os.pipe()
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, read)
        errors = stack.enter_context(_temporary_file())
        process = _start(job, write, errors)
        stack.callback(_end, process)
        watch = _Watch(process, job.chosen_limits.deadline + _GRACE, should_stop)
        for line in watch.lines(read):
            event = _storable(json.loads(line))
            if event["type"] == "result":
                return cast(ResultDocument, event["document"])
            on_event(event)
        return _without_result(job, watch, errors, time.monotonic() - start)


def _start(job: Job, write: int, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "runners.supervisor", str(write)],
            stdin=subprocess.PIPE,
            stdout=errors,
            stderr=errors,
            pass_fds=(write,),
            start_new_session=True,
            cwd="/",
            # An environment of its own: no secret of the caller can reach what runs below.
            env={
                **(nvidia.environment(job.target.index) if job.target.kind == DeviceKind.CUDA else {}),
                "PATH": "/usr/local/bin:/usr/bin:/bin",
                "PYTHONPATH": _ROOT,
                "LANG": "C.UTF-8",
                "OMP_WAIT_POLICY": "passive",  # threads of the oracle must not spin while the child is timed
                "KMP_BLOCKTIME": "0",
            },
        )
    finally:
        os.close(write)
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    with contextlib.suppress(BrokenPipeError), process.stdin as stream:
        stream.write(json.dumps(job.to_document()).encode())
    return process


class _Watch:
    """Reads the supervisor's lines while asking whether to go on."""

    def __init__(
        self, process: subprocess.Popen[bytes], limit: float, should_stop: Callable[[], bool]
    ) -> None:
        self._process = process
        self._deadline = time.monotonic() + limit
        self._should_stop = should_stop
        self.cancelled = False
        self.overdue = False

    def lines(self, descriptor: int) -> Iterator[bytes]:
        """Whole lines until the supervisor closes its end, is overdue, or does not heed a cancellation."""
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
                self._process.send_signal(signal.SIGTERM)
                self._deadline = time.monotonic() + _CANCEL_GRACE


def _storable(value: Any) -> Any:
    """``value`` with U+FFFD for NUL and halves of characters, which a submission may print or raise."""
    match value:
        case str():
            return _NOT_STORABLE.sub("\ufffd", value)
        case list():
            return [_storable(item) for item in value]
        case dict():
            return {_storable(key): _storable(item) for key, item in value.items()}
        case _:
            return value


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kills the supervisor and all below it, at once when it has ended well."""
    if process.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.5)
    if process.poll() is None:
        process_tree.kill(process.pid)
        process.kill()
    process.wait()


def _without_result(job: Job, watch: _Watch, errors: IO[bytes], seconds: float) -> ResultDocument:
    if watch.cancelled:
        return failed_document(job, Verdict.CANCELLED, "The evaluation was cancelled.", seconds)
    if watch.overdue:
        limit = job.chosen_limits.deadline
        reason = f"The evaluation took longer than the {limit:g} s of its mode."
        return failed_document(job, Verdict.TIMEOUT, reason, seconds)
    errors.seek(0)
    words = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
    reason = f"The supervisor ended without a result: {words[-300:] or 'no message'}"
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


@contextlib.contextmanager
def _temporary_file() -> Iterator[IO[bytes]]:
    import tempfile

    with tempfile.TemporaryFile() as file:
        yield file
