"""What a profiler inside the submission's process reports, as far as it can be taken at its word."""

import contextlib
import fcntl
import os
from collections.abc import Iterator, Mapping
from typing import Any

from runners.contract.launches import told_launches
from runners.contract.limits import MAX_TRACE_BYTES
from runners.contract.spec import TaskSpec

SECONDS = 60.0  # the profiler itself takes seconds to start
#: Names of the raw reports that are kept.
TRACE, REPORT = "trace.json.gz", "report.ncu-rep.gz"
_TABLE_CHARACTERS = 40_000
_MOST_PLAUSIBLE = 2**40  # bytes of a trace, as a child tells it
_GZIP = b"\x1f\x8b"


class TraceMemory:
    """Memory that the child may write its trace into, and make no larger."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("trace", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, MAX_TRACE_BYTES)
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)

    def read(self, length: Any) -> bytes:
        """The trace, if ``length`` bytes of a compressed one are there. Nothing of it is looked at."""
        if type(length) is not int or not 0 < length <= MAX_TRACE_BYTES:
            return b""
        content = os.pread(self.descriptor, length, 0)
        return content if content.startswith(_GZIP) else b""


@contextlib.contextmanager
def trace_memory() -> Iterator[TraceMemory]:
    memory = TraceMemory()
    try:
        yield memory
    finally:
        os.close(memory.descriptor)


def told(answer: Mapping[str, Any], memory: TraceMemory) -> dict[str, Any]:
    """``profiler``, ``table``, ``launches`` and ``trace`` (bytes, may be empty) of a child's answer, and
    ``trace_bytes``, which says how large one is that is missing for its size.
    """
    length = answer.get("trace_bytes")
    return {
        "profiler": "torch.profiler",
        "table": str(answer.get("table", ""))[:_TABLE_CHARACTERS],
        "launches": told_launches(answer.get("launches")),
        "trace": memory.read(length),
        "trace_bytes": length if type(length) is int and 0 < length < _MOST_PLAUSIBLE else 0,
    }


def shares(spec: TaskSpec, ceilings: Mapping[str, Any], rates: Mapping[str, float]) -> dict[str, Any]:
    """``memory_share`` and ``compute_share``: the rates against what the device was measured to do.

    None where the device has no such ceiling. ``nearer`` names the one it comes nearer to.
    """
    tops = {
        "memory_share": (rates["bytes_per_s"], ceilings.get("copy_bytes_per_s")),
        "compute_share": (rates["flops_per_s"], (ceilings.get("flops_per_s") or {}).get(spec.flops_dtype)),
    }
    found: dict[str, Any] = {name: rate / top if top else None for name, (rate, top) in tops.items()}
    known = {name: share for name, share in found.items() if share is not None}
    nearer = max(known, key=lambda name: known[name]).removesuffix("_share") if known else ""
    return {**found, "nearer": nearer}
