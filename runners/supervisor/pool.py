"""Supervisors started ahead. Each serves one job and ends with it, so that nothing of one reaches another.

One waits, with torch loaded, the device open and its sandboxes started. While a job runs there is none: to
start one would disturb the clock. It is forked from a nursery (nursery.py), which spares the loading.
"""

import contextlib
import logging
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from types import TracebackType

from runners.contract.job import DeviceTarget, Job
from runners.supervisor.process import FORK, Channels, Supervisor, environment

logger = logging.getLogger(__name__)

#: Seconds after which a waiting supervisor is replaced: its device and its file system may have changed.
OLDEST = 1800.0
_LOADING_SECONDS = 60.0  # importing torch on a cold disk


class NurseryError(RuntimeError):
    """No supervisor can be forked; the message says why."""


class Nursery:
    """The process that supervisors are forked from. It ends with the thread that started it."""

    def __init__(self, target: DeviceTarget) -> None:
        """Returns at once. Raises OSError when no process can be started."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.settimeout(_LOADING_SECONDS)
        self._control = ours
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "runners.supervisor.nursery", str(theirs.fileno()), target.kind],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
                cwd="/",
                env=environment(target),
            )

    def fork(self) -> Supervisor:
        """A supervisor; waits until the libraries are loaded. Raises NurseryError."""
        channels = Channels.open()
        try:
            descriptors = [*channels.theirs, channels.errors.fileno()]
            socket.send_fds(self._control, [FORK], descriptors)
            answer, pidfds, _, _ = socket.recv_fds(self._control, 32, 1)
        except OSError as error:
            channels.close()
            raise NurseryError(f"the nursery does not answer: {error}") from error
        finally:
            channels.close_theirs()
        if not pidfds:
            channels.close()
            raise NurseryError("the nursery ended" if not answer else "the supervisor ended at once")
        return Supervisor(int(answer), pidfds[0], channels)

    def alive(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        """Kills it, and with it whatever supervisor is left."""
        self._process.kill()
        self._process.wait()
        self._control.close()


@dataclass
class _Waiting:
    supervisor: Supervisor
    since: float


class WarmPool:
    """Supervisors for the jobs of one device. Close it, or use it as a context.

    With ``ahead`` one waits ready, for a runner, which does one job at a time. Without, several threads may
    take one each, forked when asked for, once ``refill`` has started the nursery: for suites.
    """

    def __init__(self, target: DeviceTarget, data_dir: str, *, ahead: bool = True) -> None:
        """Starts nothing yet: ``refill`` and ``tend`` do, in a thread that should outlive the pool's use."""
        self._target = target
        self._data_dir = data_dir
        self._ahead = ahead
        self._lock = threading.Lock()
        self._nursery: Nursery | None = None
        self._waiting: _Waiting | None = None
        self._at_work = False
        self._closed = False

    def __enter__(self) -> "WarmPool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def take(self, job: Job) -> Supervisor | None:
        """A supervisor for ``job``, ready or nearly so. None when there is none for its device: start one
        anew.
        """
        with self._lock:
            self._at_work = self._ahead
            if self._closed or not self._serves(job):
                self._drop()  # a waiting one holds its device, which the job is to have for itself
                return None
            if self._waiting is not None and self._waiting.supervisor.alive():
                supervisor, self._waiting = self._waiting.supervisor, None
                return supervisor
            self._drop()
            return self._forked() if self._nursery is not None or not self._ahead else None

    def refill(self) -> None:
        """The job is done: gets the next supervisor ready, unless one waits."""
        with self._lock:
            self._at_work = False
            self._fill()

    def tend(self) -> None:
        """Asked now and then: replaces a waiting supervisor that died or grew old. Does nothing while a job
        runs.
        """
        with self._lock:
            if not self._at_work:
                self._fill()

    def close(self) -> None:
        """Ends every process that no job has taken, and the nursery: those taken must have ended before."""
        with self._lock:
            self._closed = True
            self._drop()
            if self._nursery is not None:
                self._nursery.end()
                self._nursery = None

    @property
    def waiting(self) -> int | None:
        """The pid of the supervisor that waits."""
        return self._waiting.supervisor.pid if self._waiting else None

    @property
    def nursery(self) -> int | None:
        """The pid of the nursery."""
        return self._nursery._process.pid if self._nursery else None

    def _serves(self, job: Job) -> bool:
        wanted, ours = job.target, self._target
        if (wanted.kind, wanted.index) != (ours.kind, ours.index):
            return False
        return not self._ahead or (wanted.cores == ours.cores and job.data_dir == self._data_dir)

    def _fill(self) -> None:
        waiting = self._waiting
        if waiting and waiting.supervisor.alive() and time.monotonic() - waiting.since < OLDEST:
            return
        self._drop()
        if self._closed:
            return
        if not self._ahead:
            self._nursery = self._nursery or Nursery(self._target)
            return
        supervisor = self._forked()
        if supervisor is None:
            return
        request = {"target": self._target.to_document(), "data_dir": self._data_dir}
        supervisor.tell({"prepare": request})
        self._waiting = _Waiting(supervisor, time.monotonic())

    def _forked(self) -> Supervisor | None:
        """One from the nursery, which is started anew when it is gone."""
        with contextlib.suppress(NurseryError):
            if self._nursery is not None:
                return self._nursery.fork()
        try:
            if self._nursery is not None:
                self._nursery.end()
            self._nursery = Nursery(self._target)
            return self._nursery.fork()
        except (OSError, NurseryError) as error:
            logger.warning("no supervisor can be started ahead: %s", error)
            return None

    def _drop(self) -> None:
        if self._waiting is not None:
            self._waiting.supervisor.end(patience=0)
            self._waiting = None
