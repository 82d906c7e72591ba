"""The few system calls that Python does not wrap. Every failure becomes an OSError naming the call."""

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_libc.mount.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_char_p]
_libc.prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong]

CLONE_NEWNS = 0x00020000
MS_BIND, MS_REC, MS_PRIVATE, MS_NOSUID, MS_NODEV = 0x1000, 0x4000, 0x40000, 2, 4
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP = 1, 4, 22
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38


def _checked(name: str, result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def prctl(option: int, first: int = 0, second: int = 0) -> int:
    return _checked(f"prctl({option})", _libc.prctl(option, first, second, 0, 0))


def unshare(flags: int) -> None:
    _checked("unshare", _libc.unshare(ctypes.c_int(flags)))


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    result = _libc.mount(source.encode(), target.encode(), kind.encode(), flags, data.encode())
    _checked(f"mount {source} on {target}", result)


def syscall(name: str, number: int, *arguments: ctypes.c_void_p | int | None) -> int:
    """A raw system call; integers are passed as 64-bit values."""
    plain = [ctypes.c_long(item) if isinstance(item, int) else item for item in arguments]
    return _checked(name, _libc.syscall(ctypes.c_long(number), *plain))
