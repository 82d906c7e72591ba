"""What is taken of a profiler's answer, which a stranger's process gives; nothing here starts one."""

import gzip
import os
from typing import Any

import pytest

from runners.contract.limits import MAX_TRACE_BYTES
from runners.supervisor import profiling
from tests.engine.conftest import make_spec

SPEC = make_spec()


def test_a_trace_is_read_back_as_it_was_written() -> None:
    content = gzip.compress(b"{}")
    with profiling.trace_memory() as memory:
        os.pwrite(memory.descriptor, content, 0)
        assert profiling.told({"trace_bytes": len(content)}, memory)["trace"] == content


@pytest.mark.parametrize("length", [None, True, -1, 0, 5.0, "5", MAX_TRACE_BYTES + 1, 10**12])
def test_a_length_that_is_none_reads_nothing(length: Any) -> None:
    with profiling.trace_memory() as memory:
        os.pwrite(memory.descriptor, gzip.compress(b"{}"), 0)
        assert memory.read(length) == b""


@pytest.mark.parametrize(
    ("length", "told"), [(MAX_TRACE_BYTES + 1, MAX_TRACE_BYTES + 1), (10**400, 0), ("5", 0), (-1, 0)]
)
def test_how_large_a_missing_trace_is_is_told_if_it_can_be(length: Any, told: int) -> None:
    with profiling.trace_memory() as memory:
        seen = profiling.told({"trace_bytes": length}, memory)
    assert (seen["trace"], seen["trace_bytes"]) == (b"", told)


def test_what_is_not_compressed_is_no_trace() -> None:
    with profiling.trace_memory() as memory:
        os.pwrite(memory.descriptor, b"<script>", 0)
        assert memory.read(8) == b""


def test_the_memory_cannot_be_made_larger() -> None:
    with profiling.trace_memory() as memory, pytest.raises(PermissionError):
        os.pwrite(memory.descriptor, b"x", MAX_TRACE_BYTES)


def test_rates_are_compared_with_the_ceilings_that_are_known() -> None:
    rates = {"bytes_per_s": 5e9, "flops_per_s": 2e9}
    ceilings = {"copy_bytes_per_s": 1e10, "flops_per_s": {"float32": 1e10}}
    assert profiling.shares(SPEC, ceilings, rates) == {
        "memory_share": 0.5,
        "compute_share": 0.2,
        "nearer": "memory",
    }
    assert profiling.shares(SPEC, {}, rates) == {"memory_share": None, "compute_share": None, "nearer": ""}
