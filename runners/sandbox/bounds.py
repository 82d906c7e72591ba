"""Bounds of one sandbox: what the code inside may use before it is stopped."""

import os
from dataclasses import asdict, dataclass
from typing import Any

GIB = 2**30
MIB = 2**20


@dataclass(frozen=True)
class Bounds:
    """Bytes and counts. Memory is held by RLIMIT_DATA and by polling, never by RLIMIT_AS (which breaks
    CUDA).
    """

    memory: int = 8 * GIB  # private memory of all processes together
    #: Of the machine's memory, polled: what is shared, in files or in pipes is in no other bound.
    reserve: int = 512 * MIB
    tmp: int = 512 * MIB  # the size of /tmp
    shm: int = 512 * MIB  # the size of /dev/shm
    file: int = 512 * MIB  # largest single file
    processes: int = 64  # polled
    threads: int = 400  # polled, all processes together
    open_files: int = 512
    cpu_seconds: int = 3600  # backstop; the supervisor's deadline comes first

    def to_document(self) -> dict[str, Any]:
        return asdict(self)


#: Compilers: no shared memory needed, and a large include must end soon.
COMPILER_BOUNDS = Bounds(memory=3 * GIB, shm=1 * MIB, processes=32, threads=128, cpu_seconds=300)


def for_this_machine() -> Bounds:
    """The usual bounds, with half of the machine's memory at most, and a sixteenth kept free."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return Bounds(memory=min(Bounds.memory, memory // 2), reserve=min(Bounds.reserve, memory // 16))


def available_memory() -> int:
    """Bytes that the machine can still give without swapping: Linux, Documentation/filesystems/proc.rst."""
    with open("/proc/meminfo") as lines:
        for line in lines:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    raise OSError("/proc/meminfo tells no MemAvailable")
