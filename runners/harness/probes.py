"""Does, inside the sandbox, what must be impossible there. Used by sandbox/probe.py; its word is about
ourselves.
"""

import contextlib
import ctypes
import os
import signal
import socket
from typing import Any

from runners.harness.control import Control

_PTRACE = 101
_PATIENCE = 0.5  # seconds for a process to be born


def main(control: Control) -> None:
    request, _ = control.receive()
    control.send({"event": "done", "open": {name: attempt(request) for name, attempt in _ATTEMPTS.items()}})


def _is_root(_: dict[str, Any]) -> bool:
    return os.getuid() == 0 or os.geteuid() == 0


def _environment(_: dict[str, Any]) -> bool:
    """A variable of the runner is visible, here or in the first process of the namespace."""
    texts = [repr(os.environ)]
    for pid in ("self", "1", str(os.getppid())):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ") as stream:
            texts.append(stream.read())
    return any("KERNELHUB_PROBE" in text for text in texts)


def _new_privileges(_: dict[str, Any]) -> bool:
    with open("/proc/self/status") as lines:
        return "NoNewPrivs:\t1" not in lines.read()


def _reads(request: dict[str, Any]) -> bool:
    """The runner's own file can be read."""
    try:
        os.close(os.open(request["secret"], os.O_RDONLY))
    except OSError:
        return False
    return True


def _hidden(request: dict[str, Any]) -> bool:
    """A file that the file system shows and Landlock alone forbids can be read."""
    return _reads({"secret": request["hidden"]})


def _writes(request: dict[str, Any]) -> bool:
    """A file can be made outside the private folder."""
    for folder in request["folders"]:
        try:
            descriptor = os.open(f"{folder}/kernelhub-probe", os.O_CREAT | os.O_WRONLY)
        except OSError:
            continue
        os.close(descriptor)
        os.unlink(f"{folder}/kernelhub-probe")
        return True
    return False


def _network(request: dict[str, Any]) -> bool:
    """The runner's own listening port can be reached."""
    try:
        socket.create_connection(("127.0.0.1", request["port"]), timeout=1).close()
    except OSError:
        return False
    return True


def _processes(_: dict[str, Any]) -> bool:
    """The runner's process can be seen."""
    for pid in os.listdir("/proc"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline") as stream:
            if "runners.sandbox.probe" in stream.read():
                return True
    return False


def _call(number: int, *arguments: int) -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.syscall(number, *arguments) >= 0)


def _ptrace(_: dict[str, Any]) -> bool:
    return _call(_PTRACE, 0, 0, 0, 0)  # PTRACE_TRACEME


def _vsock(_: dict[str, Any]) -> bool:
    try:
        socket.socket(40, socket.SOCK_STREAM).close()
    except OSError:
        return False
    return True


def _unasked(_: dict[str, Any]) -> bool:
    """A process is born although nobody has let it."""
    signal.signal(signal.SIGALRM, lambda *_: None)  # interrupts the wait
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE)
    try:
        pid = os.fork()
    except OSError:
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


_ATTEMPTS = {
    "root": _is_root,
    "environment": _environment,
    "new_privileges": _new_privileges,
    "reads": _reads,
    "hidden": _hidden,
    "writes": _writes,
    "network": _network,
    "processes": _processes,
    "vsock": _vsock,
    "unasked birth": _unasked,
    "ptrace": _ptrace,  # last, as a traced process stops at its next signal
}
