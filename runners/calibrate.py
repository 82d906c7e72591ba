"""Measuring a device's ceilings: copy bandwidth, matmul rate per dtype, and the cost of a call that does
nothing.

The work is done by calibrate_cpu.py or calibrate_cuda.py in a process of its own, pinned like a
submission, so that the caller needs no torch.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runners.contract.job import DeviceTarget
from runners.contract.vocabulary import DeviceKind
from runners.sandbox import nvidia
from runners.supervisor.environment import environment

_SECONDS = 360  # a busy machine takes two minutes and more
#: Facts that differ between cards of one kind, or from one minute to the next.
_NOT_COMPARED = ("uuid", "load")


def measure_ceilings(target: DeviceTarget) -> dict[str, Any]:
    """``copy_bytes_per_s``, ``read_bytes_per_s``, ``flops_per_s`` by dtype, ``launch_seconds``. Raises
    RuntimeError when it fails.

    The best of several repeats counts: a ceiling is what the device can do when nothing disturbs it.
    """
    is_cuda = target.kind == DeviceKind.CUDA
    module = "runners.calibrate_cuda" if is_cuda else "runners.calibrate_cpu"
    cores = list(target.cores or sorted(os.sched_getaffinity(0)))
    try:
        done = subprocess.run(
            [sys.executable, "-m", module, json.dumps(cores)],
            env={
                **(nvidia.environment(target.index) if is_cuda else {}),
                "PATH": "/usr/bin:/bin",
                "PYTHONPATH": str(Path(__file__).resolve().parents[1]),
                "OMP_NUM_THREADS": str(len(cores)),
            },
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"calibration took longer than {_SECONDS} s") from None
    if done.returncode != 0:
        last = done.stderr.strip().rpartition("\n")[2]
        raise RuntimeError(f"calibration failed: {last[-300:] or f'exit status {done.returncode}'}")
    ceilings: dict[str, Any] = json.loads(done.stdout)
    return ceilings


def calibration_environment(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What a measurement of ceilings depends on: the device's facts, and versions on this machine."""
    # Of what both name, the environment knows more: the C++ compiler's version, where a fact says "g++".
    found = {**facts, **environment()}
    return {name: value for name, value in found.items() if name not in _NOT_COMPARED}


def environment_digest(described: Mapping[str, Any]) -> str:
    """64 hex digits that change with anything in ``calibration_environment``."""
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


def remembered_ceilings(target: DeviceTarget, folder: Path) -> dict[str, Any]:
    """As ``measure_ceilings``, kept in a file of ``folder`` until the environment changes.

    For runs without a database. Raises RuntimeError.
    """
    name = "cpu" if target.kind == DeviceKind.CPU else f"{target.kind}-{target.index}"
    path = folder / f"{name}.ceilings.json"
    digest = environment_digest(calibration_environment(target.facts))
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["environment_digest"] == digest:
            return dict(kept["ceilings"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # not measured yet, or not readable: measure
    ceilings = measure_ceilings(target)
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"environment_digest": digest, "ceilings": ceilings}), encoding="utf-8")
    return ceilings
