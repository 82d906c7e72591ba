"""Classic BPF as seccomp's filters are written in: Linux, Documentation/userspace-api/seccomp_filter.rst."""

import ctypes
import platform
import struct
from collections.abc import Sequence

LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, ASK = 0x7FFF0000, 0x80000000, 0x7FC00000
_ERROR = 0x00050000
_X86_64 = 0xC000003E
_X32_BIT = 0x40000000
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4


def refuse(error: int) -> int:
    """What to return so that the call fails with this errno."""
    return _ERROR | error


def argument_at(index: int) -> int:
    """Where the low half of an argument lies, little-endian."""
    return 16 + 8 * index


def instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def among(values: Sequence[int], then: int, otherwise: int) -> list[bytes]:
    """Returns ``then`` where what was loaded is one of ``values``, else ``otherwise``."""
    compared = [instruction(JUMP_EQUAL, value, len(values) - index) for index, value in enumerate(values)]
    return [*compared, instruction(RETURN, otherwise), instruction(RETURN, then)]


def on_call(number: int, body: Sequence[bytes]) -> list[bytes]:
    """``body`` runs for this call only; it must return on every path."""
    return [instruction(JUMP_EQUAL, number, 0, len(body)), *body]


def program(rules: Sequence[bytes]) -> bytes:
    """The filter, as an array of ``struct sock_filter``: ``rules``, with all else allowed. A call by another
    architecture's table ends the process, as its numbers mean other things.
    """
    start = [
        instruction(LOAD, _ARCHITECTURE_AT),
        instruction(JUMP_EQUAL, _X86_64, 1, 0),
        instruction(RETURN, KILL),
        instruction(LOAD, _NUMBER_AT),
        instruction(JUMP_AT_LEAST, _X32_BIT, 0, 1),
        instruction(RETURN, KILL),
    ]
    return b"".join([*start, *rules, instruction(RETURN, ALLOW)])


class Program(ctypes.Structure):
    """``struct sock_fprog``."""

    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def document(instructions: bytes) -> Program:
    """For the kernel. Raises OSError where the numbers of calls are not those that the filters know."""
    if platform.machine() != "x86_64":
        raise OSError(f"the seccomp filter knows x86_64 only, not {platform.machine()}")
    return Program(len(instructions) // 8, instructions)
