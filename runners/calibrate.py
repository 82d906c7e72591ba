"""Measuring a device's ceilings: copy bandwidth, matmul rate per dtype, and the cost of a call that does
nothing.

``measure_ceilings`` is what runners call; the work is done by ``python -m runners.calibrate`` in a process
of its own, pinned like a submission, so that the caller needs no torch.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from runners.contract.job import DeviceTarget
from runners.contract.vocabulary import DeviceKind
from runners.sandbox import nvidia

_SECONDS = 120
_COPY_BYTES = 256 * 2**20
_MATMUL_SIZE = 1024
_DTYPES = ("float32", "float64", "bfloat16")
_SPENT = 0.7  # seconds of repeating per number


def measure_ceilings(target: DeviceTarget) -> dict[str, Any]:
    """``copy_bytes_per_s``, ``flops_per_s`` by dtype, ``launch_seconds``. Raises RuntimeError when it fails.

    The best of several repeats counts: a ceiling is what the device can do when nothing disturbs it.
    """
    is_cuda = target.kind == DeviceKind.CUDA
    module = "runners.calibrate_cuda" if is_cuda else "runners.calibrate"
    cores = list(target.cores or sorted(os.sched_getaffinity(0)))
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
    if done.returncode != 0:
        last = done.stderr.strip().rpartition("\n")[2]
        raise RuntimeError(f"calibration failed: {last[-300:] or f'exit status {done.returncode}'}")
    ceilings: dict[str, Any] = json.loads(done.stdout)
    return ceilings


def _measure_cpu() -> dict[str, Any]:
    import torch

    source = torch.ones(_COPY_BYTES // 4)
    target = torch.empty_like(source)
    nothing = torch.zeros(1)
    rates = {}
    for name in _DTYPES:
        left, right = (torch.ones(_MATMUL_SIZE, _MATMUL_SIZE, dtype=getattr(torch, name)) for _ in "ab")
        out = torch.empty_like(left)
        rates[name] = 2 * _MATMUL_SIZE**3 / _best(partial(torch.matmul, left, right, out=out))
    return {
        "copy_bytes_per_s": 2 * _COPY_BYTES / _best(lambda: target.copy_(source)),
        "flops_per_s": rates,
        "launch_seconds": _best(lambda: nothing.add_(1)),
    }


def _best(action: Callable[[], object]) -> float:
    """Seconds of the fastest of the calls that fit into the time."""
    action()
    best = float("inf")
    end = time.perf_counter() + _SPENT
    while (start := time.perf_counter()) < end:
        action()
        best = min(best, time.perf_counter() - start)
    return best


if __name__ == "__main__":
    os.sched_setaffinity(0, json.loads(sys.argv[1]))
    sys.stdout.write(json.dumps(_measure_cpu()))
