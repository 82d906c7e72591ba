"""The cast and the small task of the leaderboard tests, and a result document as an engine writes it."""

from typing import Any

import pytest

from tests.leaderboard.conftest import (  # noqa: F401 - fixtures
    _quick_passwords,
    device,
    finish,
    gpu,
    outsider,
    owner,
    result_document,
    runner,
    spec,
    staff,
    submit,
    task,
    version,
)

#: What a stranger may print or name; no page may ever let a browser run it.
HOSTILE = '<script>alert("x")</script>'


@pytest.fixture
def failing_result() -> dict[str, Any]:
    """A run whose second test went wrong, with hostile text wherever the submission can put some."""
    error = {
        "output": "y",
        "mismatches": 3,
        "elements": 1000,
        "max_abs_error": 0.25,
        "max_rel_error": None,
        "worst_index": [2, 999],
        "got": "nan",
        "want": "0.0012304",
        "atol": 1e-10,
        "rtol": 2e-5,
        "tolerance_used": 0.5,
        "budget_used": 12.5,
        "beyond": "budget",
    }
    return result_document(
        verdict="wrong",
        reason="Case n=5: y[2, 999] is nan, the reference says 0.0012304.",
        stages=[
            {"stage": "screen", "status": "passed", "seconds": 0.002},
            {"stage": "compile", "status": "passed", "seconds": 0.9},
            {"stage": "verify", "status": "failed", "seconds": 1.4},
        ],
        tests=[
            {"case": "a", "description": "n=3", "hidden": False, "status": "passed", "deterministic": True},
            {
                "case": "b",
                "description": "n=5",
                "hidden": True,
                "status": "failed",
                "message": f"y differs {HOSTILE}",
                "outputs": [error],
                "deterministic": False,
            },
        ],
        findings=[{"rule": "odd-name", "line": 2, "message": f"a name like {HOSTILE}", "refuses": False}],
        compile={
            "command": "g++ -O3 kernel.cpp",
            "log": f"kernel.cpp:1:1: warning: {HOSTILE}",
            "seconds": 0.9,
            "cached": False,
            "functions": [{"name": f"f{HOSTILE}", "registers": 40, "shared_bytes": 8192, "occupancy": 0.75}],
            "listing": [{"kind": "asm", "lines": [[1, f"mov {HOSTILE}"], [None, "ret"]]}],
        },
        output={"stdout": HOSTILE, "stderr": HOSTILE, "truncated": True},
        launches=[{"name": f"k{HOSTILE}", "on_device": True, "library": True, "calls": 2, "seconds": 1e-3}],
        work="library",
        profile={
            "case": f"c{HOSTILE}",
            "seconds": 0.0155,
            "floor_seconds": 0.01,
            "bytes_per_s": 4.3e9,
            "flops_per_s": 1e9,
            "memory_share": 0.43,
            "compute_share": None,
            "nearer": "memory",
            "counters": "Hardware counters are read on GPUs alone.",
            "profiler": "torch.profiler",
            "table": f"aten::mm {HOSTILE}",
            "raw": "trace.json.gz",
            "raw_bytes": 2048,
            "kernels": [
                {
                    "name": f"k{HOSTILE}",
                    "seconds": 1e-5,
                    "memory": 0.9,
                    "compute": None,
                    "achieved_occupancy": 0.5,
                    "theoretical_occupancy": 1.0,
                    "stalls": [{"reason": f"long {HOSTILE}", "warps": 12.34}],
                }
            ],
        },
        environment={"compiler": "g++ 13.3.0"},
        benchmarks=[],
        score=None,
    )
