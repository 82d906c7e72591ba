"""Mapping the supervisor's shared memory, and where each tensor of each slot lies in it."""

import ctypes
import os
from dataclasses import dataclass
from typing import Any

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_PROT_READ, _PROT_WRITE, _MAP_SHARED, _MAP_POPULATE = 1, 2, 1, 0x8000
_FAILED = 2**64 - 1


@dataclass(frozen=True)
class Mapped:
    """One arena: ``stride`` bytes per slot from ``address`` on."""

    address: int
    size: int
    stride: int

    def unmap(self) -> None:
        _libc.munmap(self.address, self.size)

    def bytes_at(self, offset: int, size: int) -> Any:
        """Part of the arena as a torch tensor of bytes, sharing its memory."""
        import torch

        memory = (ctypes.c_char * size).from_address(self.address + offset)
        return torch.frombuffer(memory, dtype=torch.uint8)


def map_arena(descriptor: int, arena: dict[str, Any], *, writable: bool) -> Mapped:
    """Maps all of an arena and closes its descriptor. Populated at once: page faults are not the kernel's
    time.
    """
    size = arena["slots"] * arena["stride"]
    protection = _PROT_READ | (_PROT_WRITE if writable else 0)
    address = _libc.mmap(None, size, protection, _MAP_SHARED | _MAP_POPULATE, descriptor, 0)
    os.close(descriptor)
    if address in (None, _FAILED):
        raise OSError(ctypes.get_errno(), "mapping the shared memory failed")
    return Mapped(address, size, arena["stride"])
