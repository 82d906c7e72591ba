"""Measuring the ceilings of the CPU. Run as ``python -m runners.calibrate_cpu CORES`` by calibrate.py."""

import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

_COPY_BYTES = 256 * 2**20
_MATMUL_SIZE = 1024
_DTYPES = ("float32", "float64", "bfloat16")
_SPENT = 0.7  # seconds of repeating per number


def measure() -> dict[str, Any]:
    """``copy_bytes_per_s``, ``flops_per_s`` by dtype, ``launch_seconds``: the best of several repeats."""
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
    sys.stdout.write(json.dumps(measure()))
