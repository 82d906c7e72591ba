"""``python -m runners.supervisor.nursery <socket> <kind>``: loads torch once, then forks supervisors.

A supervisor that is forked has its libraries at once. Nothing else is shared: each is forked from a process
that never sees a job, opens no device, and has no thread of its own.

A request brings three descriptors: jobs to read, events to write, and a file for the standard streams. The
answer is the new process's pid, with a pidfd beside it.
"""

import gc
import os
import signal
import socket
import sys
import traceback

from runners.contract.vocabulary import DeviceKind
from runners.sandbox import libc, privileges
from runners.supervisor import __main__ as supervisor
from runners.supervisor import environment
from runners.supervisor.process import FORK


def main() -> None:
    privileges.die_with_parent(os.getppid())
    libc.prctl(libc.PR_SET_DUMPABLE, 0)
    control = socket.socket(fileno=int(sys.argv[1]))
    _load(DeviceKind(sys.argv[2]))
    gc.freeze()  # what is here stays shared: no collection in a supervisor writes to its pages
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for supervisors: the kernel buries them
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, len(FORK), 3)
        if not message:
            return
        try:
            _fork(control, descriptors)
        except BrokenPipeError:  # who asked is gone; the supervisor goes with us
            return


def _load(kind: DeviceKind) -> None:
    """All modules that an evaluation may need."""
    environment.environment()
    __import__("runners.supervisor.measuring")
    if kind == DeviceKind.CUDA:
        __import__("runners.supervisor.cuda_session")


def _fork(control: socket.socket, descriptors: list[int]) -> None:
    jobs, events, streams = descriptors
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        control.close()
        _become(jobs, events, streams, parent)
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:  # it died at once; its pipes say so
        socket.send_fds(control, [b"0"], [])
    else:
        socket.send_fds(control, [str(pid).encode()], [pidfd])
        os.close(pidfd)
    for descriptor in descriptors:
        os.close(descriptor)


def _become(jobs: int, events: int, streams: int, parent: int) -> None:
    """The child's way; it never returns."""
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        os.dup2(jobs, 0)
        os.dup2(streams, 1)
        os.dup2(streams, 2)
        for descriptor in (jobs, streams):
            os.close(descriptor)
        supervisor.serve(events, parent)
        code = 0
    except BaseException:  # noqa: BLE001 - it must not go on as a second nursery
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
