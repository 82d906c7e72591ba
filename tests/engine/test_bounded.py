"""What is bounded, and says so: the size of a result, and the wait for a sandbox's end."""

import os
import subprocess
from types import SimpleNamespace
from typing import Any

import pytest

from runners.contract.limits import MAX_RESULT_BYTES, MAX_TRACE_BYTES
from runners.supervisor import __main__ as supervisor
from runners.supervisor import child
from runners.supervisor.child import Child
from runners.supervisor.measuring import Measuring


def _document(samples: int, listing: int) -> Any:
    timing = {"case": "one", "seconds": 1.0, "samples": {"4": [0.5] * samples}}
    return {"compile": {"log": "", "listing": "x" * listing}, "benchmarks": [timing]}


def test_a_result_names_what_it_leaves_out() -> None:
    found: Any = supervisor._fitting(_document(samples=MAX_RESULT_BYTES, listing=10))

    assert found["left_out"] == ["the compiler's listings", "the single times of case one"]
    assert "samples" not in found["benchmarks"][0]


def test_a_result_that_fits_without_its_listings_keeps_its_times() -> None:
    found: Any = supervisor._fitting(_document(samples=10, listing=MAX_RESULT_BYTES))

    assert found["left_out"] == ["the compiler's listings"]
    assert found["benchmarks"][0]["samples"]


def test_what_was_left_out_before_is_still_named() -> None:
    document = {**_document(samples=10, listing=MAX_RESULT_BYTES), "left_out": ["the raw report"]}
    found: Any = supervisor._fitting(document)  # type: ignore[arg-type]

    assert found["left_out"] == ["the raw report", "the compiler's listings"]


def test_a_raw_report_that_is_too_large_is_named_and_the_one_before_it_kept() -> None:
    document: dict[str, Any] = {"profile": {}}
    measuring = Measuring.__new__(Measuring)
    measuring._document = document  # type: ignore[assignment]
    measuring._keep_raw(b"t" * 5, "trace.json")
    measuring._keep_raw(b"", "report.ncu-rep")
    assert "left_out" not in document
    measuring._keep_raw(b"r" * (MAX_TRACE_BYTES + 1), "report.ncu-rep")

    assert document["profile"] == {"raw": "trace.json", "raw_bytes": 5}
    measuring._keep_raw(b"", "trace.json.gz", 2_000_000)  # one that did not fit into the memory for it
    assert document["left_out"] == [
        "the profiler's raw report report.ncu-rep, 1,048,577 bytes of at most 1,048,576",
        "the profiler's raw report trace.json.gz, 2,000,000 bytes of at most 1,048,576",
    ]


def test_a_small_result_is_whole() -> None:
    assert supervisor._fitting(_document(samples=10, listing=10)) == _document(samples=10, listing=10)


class _Undying:
    pid = 4711

    def kill(self) -> None: ...

    def wait(self, timeout: float | None = None) -> int:
        assert timeout is not None, "nobody waits for ever"
        raise subprocess.TimeoutExpired("bwrap", timeout)


def test_a_process_that_a_driver_holds_is_left_behind(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(child, "_LAST_SECONDS", 0.0)
    monkeypatch.setattr(child.process_tree, "kill", lambda root: None)
    closed: list[bool] = []
    held = Child.__new__(Child)
    held._root = os.getpid()
    sandbox: Any = SimpleNamespace(process=_Undying(), close=lambda: closed.append(True))
    held._sandbox, held._births = sandbox, None

    held.close()

    assert closed
    assert "process 4711 of a sandbox does not die" in capsys.readouterr().err
