"""Hardware counters: what Nsight Compute prints as numbers, and why there are none as one sentence."""

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runners.backends.base import Built
from runners.contract.job import Job
from runners.contract.vocabulary import CaseRole, DeviceKind
from runners.harness import once
from runners.sandbox.bounds import Bounds
from runners.sandbox.spawn import Layers, Plan
from runners.supervisor import nsight
from runners.supervisor.child import Child
from runners.supervisor.stop import Stop
from runners.supervisor.workshop import run_commands
from tests.engine.conftest import GOOD_PYTHON

TABLE = """\
==PROF== Disconnected from process 1
"ID","Kernel Name","gpu__time_duration.sum","sm__throughput.avg.pct_of_peak_sustained_elapsed",\
"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",\
"sm__warps_active.avg.pct_of_peak_sustained_active","sm__maximum_warps_per_active_cycle_pct",\
"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",\
"smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"
"","","us","%","%","%","%","inst","inst"
"0","affine(const float *, float *)","1,085.12","12.5","91.2","75","100","18.5","2.25"
"1","<b>odd</b>","n/a","","","","","","nan"
"""


def test_the_table_becomes_numbers() -> None:
    first, second = nsight.kernels_of(TABLE)
    assert first == {
        "name": "affine(const float *, float *)",
        "seconds": pytest.approx(1.08512e-3),
        "compute": 0.125,
        "memory": 0.912,
        "achieved_occupancy": 0.75,
        "theoretical_occupancy": 1.0,
        "stalls": [{"reason": "long scoreboard", "warps": 18.5}, {"reason": "wait", "warps": 2.25}],
    }
    assert second["seconds"] is None
    assert second["stalls"] == []


@pytest.mark.parametrize("table", ["", "nothing", '"ID"\n""\n', '"ID","Kernel Name"\n'])
def test_a_table_without_kernels_is_none(table: str) -> None:
    assert nsight.kernels_of(table) == []


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", "to its administrator alone"),
        ("==PROF== x\n==ERROR== The application returned an error code (1).\n", "an error code (1)."),
        ("", "it found no kernel to profile"),
    ],
)
def test_why_there_are_no_counters_is_one_sentence(log: str, words: str) -> None:
    sentence = nsight.why(log)
    assert words in sentence
    assert "\n" not in sentence


@pytest.fixture
def job(make_job: Any) -> Job:
    built: Job = make_job(GOOD_PYTHON)
    return built


def test_a_cpu_has_none(job: Job, tmp_path: Path) -> None:
    case = job.spec.cases_for(DeviceKind.CPU, CaseRole.BENCHMARK)[0]
    found = nsight.look(job, Built("python", b""), case, Layers(), Stop(1e12, 1))
    assert found == ({"counters": "Hardware counters are read on GPUs alone; this device is a CPU."}, b"")


@pytest.mark.parametrize(
    "source",
    [
        "def kernel(x):\n    print(tuple(x.shape), x.dtype)\n    return x\n",
        "def kernel(x, out):\n    print(tuple(out.shape), out.dtype)\n",
    ],
)
def test_what_runs_under_it_calls_the_submission(job: Job, tmp_path: Path, source: str) -> None:
    """The program that ncu would watch, here on a CPU and without ncu."""
    case = job.spec.cases_for(DeviceKind.CPU, CaseRole.BENCHMARK)[0]
    (tmp_path / "case.json").write_text(json.dumps(nsight.describe(job, "python", case)))
    (tmp_path / "kernel.py").write_text(source)
    done = subprocess.run(
        [sys.executable, "-I", str(Path(once.__file__))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "(1024, 512) torch.float32\n" * 2, done.stderr


@pytest.mark.sandbox
def test_its_sandbox_may_talk_to_itself_and_to_nobody_else() -> None:
    """Where namespaces give it a network of its own."""
    code = (
        "import socket\n"
        "own = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(own.getsockname()).close()\n"
        "try:\n    socket.create_connection(('127.0.0.1', PORT), timeout=2)\n"
        "except OSError:\n    print('alone')\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        code = code.replace("PORT", str(listener.getsockname()[1]))
        for loopback, words in ((True, "alone"), (False, "PermissionError")):
            child = Child(
                Plan("workshop", Bounds(), Layers(), packages=True, loopback=loopback), Stop(1e12, 60)
            )
            try:
                done = run_commands(child, [[sys.executable, "-I", "-c", code]], {}, (), 30, "Talking")
            finally:
                child.close()
            assert words in done.log, done.log
