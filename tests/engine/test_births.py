"""Processes inside a gated sandbox are born while the supervisor listens, and at no other time."""

import ctypes
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from runners.sandbox import births, process_tree
from runners.sandbox.births import Births
from tests.waiting import wait_for

_LIBC = ctypes.CDLL(None, use_errno=True)
_CLONE, _FORK, _VFORK, _SIGCHLD = 56, 57, 58, 17
#: System calls that start a process, as x86-64 numbers them.
STARTS = {"fork": (_FORK,), "clone": (_CLONE, _SIGCHLD, 0, 0, 0, 0)}


@dataclass
class Bound:
    """A process under the filter; ``births`` is what it must ask."""

    pid: int
    births: Births


@pytest.fixture
def bound(request: pytest.FixtureRequest) -> Iterator[Bound]:
    """A process that makes the system call of the parameter once it is bound, and then sleeps."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            _bound(theirs, STARTS[request.param])
        finally:
            os._exit(1)
    theirs.close()
    _, (listener,), _, _ = socket.recv_fds(ours, 1, 1)
    bound = Bound(pid, Births(listener))
    yield bound
    for victim in (pid, *process_tree.descendants(pid)):
        os.kill(victim, signal.SIGKILL)
    os.waitpid(pid, 0)
    bound.births.close()
    ours.close()


def _bound(control: socket.socket, call: tuple[int, ...]) -> None:
    _LIBC.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    socket.send_fds(control, [b"x"], [births.install()])
    _LIBC.syscall(*map(ctypes.c_long, call))
    while True:
        signal.pause()


def waits(bound: Bound) -> bool:
    """Whether somebody asks to start a process."""
    return bool(select.select([bound.births.descriptor], [], [], 30)[0])


@pytest.mark.parametrize("bound", STARTS, indirect=True)
def test_a_process_is_born_when_it_is_let(bound: Bound) -> None:
    assert waits(bound)
    assert list(process_tree.children(bound.pid)) == []

    bound.births.admit()
    wait_for("the birth", lambda: bool(list(process_tree.children(bound.pid))))


@pytest.mark.parametrize("bound", ["fork"], indirect=True)
def test_who_waits_for_a_birth_is_frozen_and_asks_again(bound: Bound) -> None:
    assert waits(bound)
    os.kill(bound.pid, signal.SIGSTOP)
    wait_for("it to stop", lambda: process_tree.all_still([bound.pid]))
    assert not select.select([bound.births.descriptor], [], [], 0)[0]

    os.kill(bound.pid, signal.SIGCONT)
    assert waits(bound)
    bound.births.admit()
    wait_for("the birth", lambda: bool(list(process_tree.children(bound.pid))))


@pytest.mark.parametrize("bound", ["clone"], indirect=True)
def test_who_died_waiting_is_no_error(bound: Bound) -> None:
    assert waits(bound)
    os.kill(bound.pid, signal.SIGKILL)
    wait_for("its end", lambda: process_tree.all_still([bound.pid]))

    bound.births.admit()
    assert list(process_tree.children(bound.pid)) == []


def test_threads_need_not_ask() -> None:
    code = "t = threading.Thread(target=print, args=('threads run',)); t.start(); t.join()"
    assert told_by(code) == "threads run\n"


def test_a_thread_that_was_there_before_is_bound_as_well() -> None:
    code = (
        "print({line for thread in os.listdir('/proc/self/task')"
        " for line in open(f'/proc/self/task/{thread}/status') if line.startswith('Seccomp_filters')})"
    )
    assert told_by(code) == "{'Seccomp_filters:\\t2\\n'}\n"


def told_by(code: str) -> str:
    """What a process under both filters prints, which had a second thread before it was bound."""
    start = (
        "import os, threading; from runners.sandbox import births, privileges, seccomp;"
        "privileges.no_new_privileges(); seccomp.install();"
        "threading.Thread(target=threading.Event().wait, daemon=True).start(); births.install();"
    )
    done = subprocess.run([sys.executable, "-c", start + code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout
