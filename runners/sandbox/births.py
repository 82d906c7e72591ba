"""No process is born while the supervisor does not listen.

A freeze stops what it finds, and what is born or moved meanwhile could run unseen: chains of processes that
start each other and end did so, whatever the listing. Here every call that would start a process waits for
the supervisor's word (seccomp user notification, Linux 5.5: Documentation/userspace-api/seccomp_filter.rst),
which it gives only while it lets the submission run. Threads are not asked for: they stop with their process.
"""

import contextlib
import ctypes
import fcntl
import os
import struct

from runners.sandbox import bpf, libc
from runners.sandbox.bpf import ASK, JUMP_ANY_BIT, LOAD, RETURN, argument_at, instruction, on_call

_CLONE, _FORK, _VFORK, _SECCOMP = 56, 57, 58, 317
_CLONE_THREAD = 0x00010000
_SET_MODE_FILTER = 1
_FLAGS = 1 | 8 | 16  # TSYNC, NEW_LISTENER, TSYNC_ESRCH: threads, too, that libraries started before
_RECEIVE, _SEND = 0xC0502100, 0xC0182101  # _IOWR('!', 0, struct seccomp_notif), _IOWR('!', 1, … _resp)
_NOTIFICATION_BYTES = 80
_CONTINUE = 1


def program() -> bytes:
    """The filter. ``clone3``, whose flags it could not read, must be refused by another one (seccomp.py)."""
    ask = instruction(RETURN, ASK)
    threads = [
        instruction(LOAD, argument_at(0)),
        instruction(JUMP_ANY_BIT, _CLONE_THREAD, 0, 1),
        instruction(RETURN, bpf.ALLOW),
        ask,
    ]
    return bpf.program([*on_call(_FORK, [ask]), *on_call(_VFORK, [ask]), *on_call(_CLONE, threads)])


def install() -> int:
    """Binds this process and all it starts; the descriptor that answers are given by. Needs no_new_privs;
    raises OSError where the kernel cannot, or where the machine around us listens so already.
    """
    filters = bpf.document(program())
    return libc.syscall(
        "seccomp", _SECCOMP, _SET_MODE_FILTER, _FLAGS, ctypes.c_void_p(ctypes.addressof(filters))
    )


class Births:
    """The supervisor's end of it; ``descriptor`` is readable while somebody waits, and hangs up once nobody
    is left who could ask.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def admit(self) -> None:
        """Lets the next one that waits start its process."""
        asked = bytearray(_NOTIFICATION_BYTES)
        # Whoever is interrupted before it has its answer is not known any more, and asks again.
        with contextlib.suppress(FileNotFoundError):
            fcntl.ioctl(self.descriptor, _RECEIVE, asked)
            (request,) = struct.unpack_from("=Q", asked)
            fcntl.ioctl(self.descriptor, _SEND, struct.pack("=QqiI", request, 0, 0, _CONTINUE))

    def close(self) -> None:
        os.close(self.descriptor)
