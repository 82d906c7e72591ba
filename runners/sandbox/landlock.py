"""Landlock (T1): file access by allowlist, no TCP, no signals or abstract sockets to the outside.

Every rule is mandatory: a path that cannot be added raises, because a sandbox with fewer rules than asked for
looks the same from outside and is none.
"""

import ctypes
import os
from collections.abc import Sequence

from runners.sandbox import libc

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446  # the same on every architecture
_VERSION_QUERY = 1
_RULE_PATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 1 << 1, 1 << 2, 1 << 3
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_FILE_ONLY = _EXECUTE | _WRITE_FILE | _READ_FILE | 1 << 14 | 1 << 15  # rights that a rule on a file may hold
#: All file rights that exist in each ABI version.
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_TCP_BIND_AND_CONNECT = 0b11  # ABI 4
_SCOPE_ABSTRACT_AND_SIGNALS = 0b11  # ABI 6


class _RulesetAttributes(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathAttributes(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def abi() -> int:
    """The kernel's Landlock version; 0 where there is none."""
    try:
        return libc.syscall("landlock_create_ruleset", _CREATE, None, 0, _VERSION_QUERY)
    except OSError:
        return 0


def restrict(read: Sequence[str], write: Sequence[str], *, loopback: bool = False) -> None:
    """Limits this process and all it starts: ``read`` paths may be read and executed, ``write`` paths also
    written.

    ``loopback`` leaves TCP to those who have a network of their own, with nobody else in it.

    Needs no_new_privs. Raises OSError when any rule cannot be set.
    """
    version = abi()
    if version < 1:
        raise OSError("Landlock is not available in this kernel")
    rights = _FILE_RIGHTS[max(known for known in _FILE_RIGHTS if known <= version)]
    attributes = _RulesetAttributes(
        rights,
        _TCP_BIND_AND_CONNECT if version >= 4 and not loopback else 0,
        _SCOPE_ABSTRACT_AND_SIGNALS if version >= 6 else 0,
    )
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    pointer = ctypes.cast(ctypes.pointer(attributes), ctypes.c_void_p)
    ruleset = libc.syscall("landlock_create_ruleset", _CREATE, pointer, size, 0)
    try:
        for path in read:
            _allow(ruleset, path, _READ & rights)
        for path in write:
            _allow(ruleset, path, rights)
        libc.syscall("landlock_restrict_self", _RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        attributes = _PathAttributes(rights if os.path.isdir(path) else rights & _FILE_ONLY, descriptor)
        pointer = ctypes.cast(ctypes.pointer(attributes), ctypes.c_void_p)
        libc.syscall(f"landlock_add_rule {path}", _ADD_RULE, ruleset, _RULE_PATH, pointer, 0)
    finally:
        os.close(descriptor)
