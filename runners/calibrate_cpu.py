"""Measuring the ceilings of the CPU. Run as ``python -m runners.calibrate_cpu CORES`` by calibrate.py."""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch

_COPY_BYTES = 256 * 2**20
_MATMUL_SIZE = 1024
_DTYPES = ("float32", "float64", "bfloat16")
#: Trials of every number, apart in time: whatever disturbs one has mostly passed by the next.
_TRIALS = 4
_PAUSE_SECONDS = 1.0
_SPENT = 0.25  # seconds of repeating per number and trial


def measure() -> dict[str, Any]:
    """``copy_bytes_per_s``, ``flops_per_s`` by dtype, ``launch_seconds``: the best of several trials."""
    source = torch.ones(_COPY_BYTES // 4)
    target = torch.empty_like(source)
    nothing = torch.zeros(1)
    actions: dict[str, Callable[[], object]] = {
        "copy": lambda: target.copy_(source),
        "launch": lambda: nothing.add_(1),
    }
    for name in _DTYPES:
        left, right = (torch.ones(_MATMUL_SIZE, _MATMUL_SIZE, dtype=getattr(torch, name)) for _ in "ab")
        actions[name] = partial(torch.matmul, left, right, out=torch.empty_like(left))
    best = best_of_trials(actions, _best)
    return {
        "copy_bytes_per_s": 2 * _COPY_BYTES / best["copy"],
        "flops_per_s": {name: 2 * _MATMUL_SIZE**3 / best[name] for name in _DTYPES},
        "launch_seconds": best["launch"],
    }


def best_of_trials(
    actions: Mapping[str, Callable[[], object]],
    measure_one: Callable[[Callable[[], object]], float],
    *,
    pause: Callable[[float], object] = time.sleep,
) -> dict[str, float]:
    """Seconds of each action in its best trial. Each trial goes through all of them, with a pause between."""
    best = dict.fromkeys(actions, float("inf"))
    for trial in range(_TRIALS):
        if trial:
            pause(_PAUSE_SECONDS)
        for name, action in actions.items():
            best[name] = min(best[name], measure_one(action))
    return best


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
