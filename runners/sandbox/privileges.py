"""Own uid, rlimits, no_new_privs and death with the parent (T0)."""

import contextlib
import os
import resource
import signal
from collections.abc import Mapping

from runners.sandbox import libc

#: The uid and gid ("nobody") that submissions run under when the runner was started as root.
NOBODY = 65534
_PRIORITY = -15
_SESSION = "/proc/self/autogroup"
_WALL = 2  # times the polled bound of threads


def die_with_parent(parent: int) -> None:
    """SIGKILL when the parent ends. ``parent`` is its pid: one that is gone already is noticed, too."""
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(125)


def raise_priority() -> None:
    """Goes before the machine's other work where we may: a neighbour's load is noise in every time."""
    set_priority(_PRIORITY, _PRIORITY)


def set_priority(own: int, session: int) -> None:
    """The nice values of this thread, and of its session where this process leads one; as far as we may.

    Where the kernel shares cores out among sessions, a thread's own value counts within its session only
    (man 7 sched, "The autogroup feature").
    """
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, own)
    if os.getsid(0) == os.getpid():  # else others are in it, who started us
        with contextlib.suppress(OSError), open(_SESSION, "w") as group:
            group.write(str(session))


def session_priority() -> int:
    """The nice value of this process's session; 0 where cores are not shared out among sessions."""
    try:
        with open(_SESSION) as group:
            return int(group.read().split()[-1])
    except (OSError, ValueError, IndexError):
        return 0


def drop_root() -> None:
    """Becomes NOBODY for good; does nothing when not root."""
    if os.geteuid() != 0:
        return
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    if os.geteuid() == 0 or os.getuid() == 0:
        raise PermissionError("still root after setuid")


def no_new_privileges() -> None:
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)


def limit(bounds: Mapping[str, int]) -> None:
    """Sets the rlimits of ``Bounds``; never raises a limit above what is already set."""
    for name, value in (
        (resource.RLIMIT_CPU, bounds["cpu_seconds"]),
        (resource.RLIMIT_DATA, bounds["memory"]),
        (resource.RLIMIT_FSIZE, bounds["file"]),
        (resource.RLIMIT_NOFILE, bounds["open_files"]),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        _lower(name, value)


def limit_processes(threads: int) -> None:
    """The wall behind the polled bounds, which a fork bomb hits within milliseconds.

    Set inside the user namespace, where only this sandbox's processes count: outside, all sandboxes share
    a uid, and a bomb in one would keep the others from starting.
    """
    _lower(resource.RLIMIT_NPROC, _WALL * threads)


def _lower(name: int, value: int) -> None:
    _, hard = resource.getrlimit(name)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(name, (value, value))
