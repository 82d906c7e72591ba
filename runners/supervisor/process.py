"""One supervisor process as its caller sees it: a job in, lines of events out, and its end."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from runners.contract.job import DeviceTarget
from runners.contract.vocabulary import DeviceKind
from runners.sandbox import nvidia, process_tree

#: What a nursery (nursery.py) is asked with.
FORK = b"fork"
_ROOT = str(Path(__file__).resolve().parents[2])
_BURIAL_SECONDS = 10.0
_LAST_WAIT = 0.5  # seconds that a supervisor which has said all may take to end


@dataclass
class Channels:
    """Pipes to a supervisor: this side's ends and its own."""

    jobs: int  # this side writes
    events: int  # this side reads
    errors: IO[bytes]  # a file without a name that takes stdout and stderr; both sides have it
    theirs: tuple[int, int]  # reads jobs, writes events

    @classmethod
    def open(cls) -> "Channels":
        read_jobs, write_jobs = os.pipe()
        read_events, write_events = os.pipe()
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the supervisor
        return cls(write_jobs, read_events, errors, (read_jobs, write_events))

    def close_theirs(self) -> None:
        for descriptor in self.theirs:
            os.close(descriptor)

    def close(self) -> None:
        os.close(self.jobs)
        os.close(self.events)
        self.errors.close()


class Supervisor:
    """A started supervisor, for one job. ``end`` it whatever happens."""

    def __init__(self, pid: int, pidfd: int, channels: Channels) -> None:
        """``pidfd`` is closed by ``end``: a pid alone may name another process once this one is gone."""
        self.pid = pid
        self._pidfd = pidfd
        self._channels = channels
        self._ours: subprocess.Popen[bytes] | None = None

    @classmethod
    def start(cls, target: DeviceTarget) -> "Supervisor":
        """A new process that has loaded nothing yet. Raises OSError when none can be started."""
        channels = Channels.open()
        jobs, events = channels.theirs
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", "runners.supervisor", str(events)],
                stdin=jobs,
                stdout=channels.errors,
                stderr=channels.errors,
                pass_fds=(events,),
                start_new_session=True,
                cwd="/",
                env=environment(target),
            )
        except BaseException:
            channels.close()
            raise
        finally:
            channels.close_theirs()
        supervisor = cls(process.pid, os.pidfd_open(process.pid), channels)
        supervisor._ours = process
        return supervisor

    @property
    def events(self) -> int:
        """The descriptor that its lines come from; at its end the supervisor is gone."""
        return self._channels.events

    def tell(self, message: Mapping[str, Any]) -> None:
        """Sends one line. A supervisor that is gone is noticed by its events."""
        data = memoryview(json.dumps(message).encode() + b"\n")
        with contextlib.suppress(BrokenPipeError):
            while data:
                data = data[os.write(self._channels.jobs, data) :]

    def alive(self) -> bool:
        ready, _, _ = select.select([self._pidfd], [], [], 0)
        return not ready

    def cancel(self) -> None:
        """Asks for an early end, with a result."""
        self._signal(signal.SIGTERM)

    def last_words(self) -> str:
        """The last line that it wrote to its standard streams."""
        return self._said().strip().rpartition("\n")[2]

    def was_killed(self) -> bool:
        """Whether it is gone without having failed by itself. Ask once its events have ended.

        One that a nursery forked is no child of ours, so that no exit status tells: there, it counts as
        killed unless it left a traceback, as every failure of its own does.
        """
        ended, _, _ = select.select([self._pidfd], [], [], _LAST_WAIT)
        if not ended:
            return False
        if self._ours is not None:
            return self._ours.wait() == -signal.SIGKILL
        return "Traceback (most recent call last)" not in self._said()

    def _said(self) -> str:
        self._channels.errors.seek(0)
        return self._channels.errors.read().decode(errors="replace")

    def end(self, patience: float = _LAST_WAIT) -> None:
        """Kills it and all below it, after ``patience`` seconds in which it may end by itself."""
        ended, _, _ = select.select([self._pidfd], [], [], patience)
        if not ended:
            process_tree.kill(self.pid)
            self._signal(signal.SIGKILL)
            # Bounded: a driver can hold a process that was killed, and its caller has others to serve.
            select.select([self._pidfd], [], [], _BURIAL_SECONDS)
        if self._ours is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._ours.wait(timeout=_BURIAL_SECONDS)
        os.close(self._pidfd)
        self._channels.close()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, number)


def environment(target: DeviceTarget) -> dict[str, str]:
    """An environment of its own: no secret of the caller can reach what runs below."""
    return {
        **(nvidia.environment(target.index) if target.kind == DeviceKind.CUDA else {}),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "PYTHONPATH": _ROOT,
        "LANG": "C.UTF-8",
        "OMP_WAIT_POLICY": "passive",  # threads of the oracle must not spin while the child is timed
        "KMP_BLOCKTIME": "0",
        "OPENBLAS_NUM_THREADS": "1",  # numpy would start a thread per core when loaded; torch has its own
    }
