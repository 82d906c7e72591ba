"""Hardware counters by Nsight Compute, where the machine has it and the driver permits it.

It runs in a sandbox of its own: the submission once more, outside of every clock, on made-up inputs. All that
comes back is a stranger's word. Whatever goes wrong becomes one sentence: a profile without them is one.
"""

import csv
import glob
import io
import json
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runners.backends.base import Built, ToolRun
from runners.contract.job import Job
from runners.contract.spec import Case, TensorSpec
from runners.contract.vocabulary import DeviceKind, Verdict
from runners.sandbox.bounds import Bounds
from runners.sandbox.nvidia import gpu_access
from runners.sandbox.spawn import Layers, Plan
from runners.supervisor.child import Child, Died
from runners.supervisor.outcome import Ended
from runners.supervisor.stop import Stop
from runners.supervisor.workshop import run_commands

_SECONDS = 60.0
_MOST_KERNELS = 8
_MOST_STALLS = 3
_REPORT, _TABLE = "report.ncu-rep", "raw.csv"
_SECTIONS = ("SpeedOfLight", "Occupancy", "WarpStateStats", "LaunchStats")
#: Where NVIDIA's installers put it; what lies on the PATH is often a script that calls one of these.
_PLACES = ("/opt/nvidia/nsight-compute/*/ncu", "/usr/local/cuda*/nsight-compute-*/ncu")
_NUMBERS = {
    "gpu__time_duration.sum": "nanoseconds",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": "compute",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed": "memory",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "achieved_occupancy",
    "sm__maximum_warps_per_active_cycle_pct": "theoretical_occupancy",
}
_STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+?)_per_issue_active\.ratio")
_TIME_UNITS = {
    "ns": 1e-9,
    "nsecond": 1e-9,
    "us": 1e-6,
    "usecond": 1e-6,
    "ms": 1e-3,
    "msecond": 1e-3,
    "s": 1.0,
}
_NOT_PERMITTED = "ERR_NVGPUCTRPERM"


def find() -> str | None:
    """Nsight Compute's command line, links resolved."""
    for pattern in _PLACES:
        if found := sorted(glob.glob(pattern)):
            return os.path.realpath(found[-1])
    path = shutil.which("ncu", path="/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin")
    return os.path.realpath(path) if path else None


def look(job: Job, built: Built, case: Case, layers: Layers, stop: Stop) -> tuple[dict[str, Any], bytes]:
    """What to add to the profile (``kernels``, or ``counters``: why there are none), and the raw report."""
    if job.target.kind != DeviceKind.CUDA:
        return {"counters": "Hardware counters are read on GPUs alone; this device is a CPU."}, b""
    ncu = find()
    if ncu is None:
        return {"counters": "No hardware counters: this runner has no Nsight Compute (ncu)."}, b""
    try:
        done = _run(ncu, job, built, case, layers, stop)
    except Died as error:
        return {"counters": f"No hardware counters: the process {error} under Nsight Compute."}, b""
    except Ended as ended:
        if ended.verdict == Verdict.CANCELLED:
            raise
        return {"counters": f"No hardware counters: {ended.reason}"}, b""
    kernels = kernels_of(done.files.get(_TABLE, b"").decode(errors="replace"))
    if done.code != 0 or not kernels:
        return {"counters": why(done.log)}, b""
    return {"kernels": kernels}, done.files.get(_REPORT, b"")


def why(log: str) -> str:
    """One sentence for a run without counters, from what Nsight Compute said."""
    if _NOT_PERMITTED in log:
        return "No hardware counters: the driver of this runner permits them to its administrator alone."
    words = [line.strip(" =") for line in log.splitlines() if "==ERROR==" in line or "Error" in line]
    said = words[-1].removeprefix("ERROR==").strip()[:300] if words else "it found no kernel to profile"
    return f"No hardware counters: Nsight Compute did not finish: {said}"


def kernels_of(table: str) -> list[dict[str, Any]]:
    """The kernels in ``ncu --csv --page raw``: its own lines, a header, a line of units, and then kernels."""
    lines = [line for line in table.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
    if len(rows) < 2:
        return []
    units, found = rows[0], []
    for row in rows[1 : 1 + _MOST_KERNELS]:
        values = {ours: _number(row.get(theirs)) for theirs, ours in _NUMBERS.items()}
        scale = _TIME_UNITS.get(str(units.get("gpu__time_duration.sum") or "ns"), 1e-9)
        duration = values.pop("nanoseconds")
        found.append(
            {
                "name": str(row.get("Kernel Name") or "")[:160],
                "seconds": duration * scale if duration is not None else None,
                **{name: value / 100 if value is not None else None for name, value in values.items()},
                "stalls": _stalls(row),
            }
        )
    return found


def _stalls(row: Mapping[str | None, Any]) -> list[dict[str, Any]]:
    """The reasons for which warps waited longest: warps in that state per instruction issued."""
    found: list[tuple[float, str]] = []
    for name, value in row.items():
        match = _STALL.fullmatch(name or "")
        ratio = _number(value) if match else None
        if match and ratio:
            found.append((ratio, match[1].replace("_", " ")))
    longest = sorted(found, reverse=True)[:_MOST_STALLS]
    return [{"reason": reason, "warps": ratio} for ratio, reason in longest]


def _number(text: Any) -> float | None:
    try:
        value = float(str(text).replace(",", ""))
    except ValueError:
        return None
    return value if 0 <= value < 1e18 else None


def _run(ncu: str, job: Job, built: Built, case: Case, layers: Layers, stop: Stop) -> ToolRun:
    access = gpu_access(job.target.index)
    plan = Plan(
        "workshop",
        Bounds(),
        layers,
        tuple(job.target.cores),
        before_others=False,
        packages=True,
        devices=access.devices,
        more_paths=(*access.paths, os.path.dirname(ncu)),
        environment=access.environment,
        loopback=True,  # ncu and the program that it watches talk to each other by TCP
    )
    options = ["--profile-from-start", "off", "--clock-control", "none", "--launch-count", str(_MOST_KERNELS)]
    for section in _SECTIONS:
        options += ["--section", section]
    program = [sys.executable, "-I", "once.py"]
    commands = [
        [ncu, *options, "--force-overwrite", "--export", _REPORT, *program],
        ["sh", "-c", f'"$0" --import {_REPORT} --csv --page raw >{_TABLE}', ncu],
    ]
    name = "kernel.py" if built.kind == "python" else "kernel.so"
    once = Path(__file__).resolve().parents[1] / "harness" / "once.py"
    files = {
        name: built.payload,
        "case.json": json.dumps(describe(job, built.kind, case)).encode(),
        "once.py": once.read_bytes(),
    }
    child = Child(plan, stop)
    try:
        return run_commands(child, commands, files, (_REPORT, _TABLE), _SECONDS, "Reading hardware counters")
    finally:
        child.close()


def describe(job: Job, kind: str, case: Case) -> dict[str, Any]:
    """What once.py needs to know of a case."""
    return {
        "kind": kind,
        "device": str(job.target.kind),
        "inputs": _tensors(job.spec.inputs, case),
        "outputs": _tensors(job.spec.outputs, case),
        "sizes": [case.sizes[name] for name in job.spec.sizes],
    }


def _tensors(tensors: Sequence[TensorSpec], case: Case) -> list[dict[str, Any]]:
    from runners.contract.expressions import evaluate

    return [
        {
            "dtype": tensor.dtype,
            "dims": list(tensor.dims(case.sizes)),
            "low": evaluate(tensor.low, case.sizes),
            "high": evaluate(tensor.high, case.sizes),
        }
        for tensor in tensors
    ]
