"""Seccomp (T1): a denylist of system calls, assembled here as classic BPF.

Denied calls fail with EPERM, so that honest libraries that merely try them carry on. Three groups:

- reaching other processes or the kernel: ptrace, process_vm_*, bpf, perf, userfaultfd, io_uring, keys,
modules …
- changing the sandbox: mounts, namespaces, clocks, CPU affinity (the cores are part of the measurement)
- waking a frozen process: a POSIX timer, an owner signal or a terminal that hangs up could send SIGCONT
while the supervisor fills inputs or looks at outputs
"""

import ctypes
import errno

from runners.sandbox import bpf, libc
from runners.sandbox.bpf import (
    JUMP_ANY_BIT,
    JUMP_EQUAL,
    LOAD,
    RETURN,
    among,
    argument_at,
    instruction,
    on_call,
)

_DENIED = {
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "pidfd_getfd": 438,
    "process_madvise": 440, "move_pages": 279, "migrate_pages": 256,
    "add_key": 248, "request_key": 249, "keyctl": 250,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "fanotify_init": 300, "lookup_dcookie": 212,
    "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "unshare": 272, "setns": 308,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "mount_setattr": 442, "name_to_handle_at": 303, "open_by_handle_at": 304, "quotactl": 179,
    "init_module": 175, "delete_module": 176, "finit_module": 313, "kexec_load": 246, "kexec_file_load": 320,
    "reboot": 169, "swapon": 167, "swapoff": 168, "acct": 163, "syslog": 103, "sethostname": 170,
    "setdomainname": 171, "iopl": 172, "ioperm": 173, "modify_ldt": 154, "uselib": 134, "vhangup": 153,
    "settimeofday": 164, "adjtimex": 159, "clock_settime": 227, "clock_adjtime": 305,
    "sched_setaffinity": 203, "sched_setscheduler": 144, "sched_setattr": 314, "sched_setparam": 142,
    "timer_create": 222, "mq_notify": 244,
}  # fmt: skip
#: glibc falls back to clone, whose flags a filter can read, when clone3 is unknown.
_UNKNOWN = {"clone3": 435}
_CLONE, _SOCKET, _SETSOCKOPT, _IOCTL, _FCNTL = 56, 41, 54, 16, 72
_NEW_NAMESPACES = 0x7E020000  # NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_SOCKET_FAMILIES = (1, 2, 10, 16)  # unix, inet, inet6, netlink: the rest (vsock, packet …) is refused
#: TIOCSTI, TIOCLINUX: typing into the terminal of another; TIOCSCTTY: who has a terminal gets SIGCONT from
#: the kernel when that hangs up.
_TERMINAL_IOCTLS = (0x5412, 0x541C, 0x540E)
#: SO_ATTACH_FILTER, SO_ATTACH_BPF and their kin for groups of sockets: the kernel runs them at any time.
_SOCKET_FILTERS = (26, 50, 51, 52)
_SOL_SOCKET = 1
_F_SETSIG = 10
_DENY = bpf.refuse(errno.EPERM)


def program() -> bytes:
    """The filter, as an array of ``struct sock_filter``."""
    code: list[bytes] = []
    for number in _DENIED.values():
        code += on_call(number, [instruction(RETURN, _DENY)])
    for number in _UNKNOWN.values():
        code += on_call(number, [instruction(RETURN, bpf.refuse(errno.ENOSYS))])
    code += on_call(
        _CLONE,
        [
            instruction(LOAD, argument_at(0)),
            instruction(JUMP_ANY_BIT, _NEW_NAMESPACES, 0, 1),
            instruction(RETURN, _DENY),
            instruction(RETURN, bpf.ALLOW),
        ],
    )
    code += on_call(_SOCKET, [instruction(LOAD, argument_at(0)), *among(_SOCKET_FAMILIES, bpf.ALLOW, _DENY)])
    code += on_call(
        _SETSOCKOPT,
        [
            instruction(LOAD, argument_at(1)),
            instruction(JUMP_EQUAL, _SOL_SOCKET, 0, len(_SOCKET_FILTERS) + 1),
            instruction(LOAD, argument_at(2)),
            *among(_SOCKET_FILTERS, _DENY, bpf.ALLOW),
        ],
    )
    for number, values in ((_IOCTL, _TERMINAL_IOCTLS), (_FCNTL, (_F_SETSIG,))):
        code += on_call(number, [instruction(LOAD, argument_at(1)), *among(values, _DENY, bpf.ALLOW)])
    return bpf.program(code)


def install() -> None:
    """Binds this process and all it starts to the filter. Needs no_new_privs; raises OSError when it
    cannot.
    """
    filters = bpf.document(program())
    libc.prctl(libc.PR_SET_SECCOMP, 2, ctypes.addressof(filters))
