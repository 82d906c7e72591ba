"""Measuring the ceilings of the CPU. Run as ``python -m runners.calibrate_cpu CORES`` by calibrate.py."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import torch

from runners.fma_rate import fma_rates
from runners.sandbox import process_tree

_COPY_BYTES = 256 * 2**20
_MATMUL_SIZES = (256, 512, 1024)
_MATMUL_SECONDS = 0.1  # a product takes this at most, or is of the least size
_DTYPES = ("float32", "float64", "bfloat16")
#: Trials of every number, apart in time: whatever disturbs one has mostly passed by the next.
_TRIALS = 4
_PAUSE_SECONDS = 1.0
_SPENT = 0.25  # seconds of repeating per number and trial
_LONG = 1e-3  # seconds of a call; shorter ones fit between two interruptions


def measure() -> dict[str, Any]:
    """``copy_bytes_per_s``, ``read_bytes_per_s``, ``flops_per_s`` by dtype, ``launch_seconds``: the best of
    several trials, and of several ways where one might not be the fastest that there is.
    """
    source = torch.ones(_COPY_BYTES // 4)
    target = torch.empty_like(source)
    nothing = torch.zeros(1)
    actions: dict[str, Callable[[], object]] = {
        "copy": lambda: target.copy_(source),
        "copy past the cache": partial(_copy_past_the_cache, source, target),
        "read": partial(torch.sum, source),
        "launch": lambda: nothing.add_(1),
    }
    sizes = {}
    for name in _DTYPES:
        sizes[name], actions[name] = _product(getattr(torch, name))
    best = best_of_trials(actions, _best)
    products = {name: 2 * size**3 / best[name] for name, size in sizes.items()}
    units = _fma_rates()
    # A processor without units for bfloat16 widens it to float32, which loses nothing.
    units["bfloat16"] = units.get("float32", 0.0)
    return {
        "copy_bytes_per_s": 2 * _COPY_BYTES / min(best["copy"], best["copy past the cache"]),
        "read_bytes_per_s": _COPY_BYTES / best["read"],
        "flops_per_s": {name: max(rate, units.get(name, 0.0)) for name, rate in products.items()},
        "launch_seconds": best["launch"],
    }


def _product(dtype: torch.dtype) -> tuple[int, Callable[[], object]]:
    """The size of two square matrices, and multiplying them: where that is slow, of smaller ones."""
    for size in _MATMUL_SIZES:
        left, right = (torch.ones(size, size, dtype=dtype) for _ in "ab")
        multiply = partial(torch.matmul, left, right, out=torch.empty_like(left))
        multiply()
        start = time.perf_counter()
        multiply()
        # The next size takes eight times as long.
        if 8 * (time.perf_counter() - start) > _MATMUL_SECONDS:
            break
    return size, multiply


def _copy_past_the_cache(source: torch.Tensor, target: torch.Tensor) -> None:
    """By the C library, which does not read what it overwrites where there is much of it."""
    cores = len(os.sched_getaffinity(0))
    parts = zip(np.array_split(target.numpy(), cores), np.array_split(source.numpy(), cores), strict=True)
    with ThreadPoolExecutor(cores) as threads:
        list(threads.map(lambda pair: np.copyto(*pair), parts))


def _fma_rates() -> dict[str, float]:
    try:
        return fma_rates()
    except (OSError, subprocess.SubprocessError) as error:
        sys.stderr.write(f"the rate of multiplying and adding could not be measured: {error}\n")
        return {}


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


def undisturbed(wall: float, ran: float, waited: float, cores: int) -> float:
    """Seconds that a call of ``wall`` seconds would have taken with its ``cores`` to itself: less what its
    threads ``waited`` for one at most, but no less than what they ``ran`` takes on all of them.

    On a machine that is never idle no call is quick. Its time would set a floor above what honest kernels
    take, which would hold each of them for a person.
    """
    return max(wall - waited, ran / cores)


def _best(action: Callable[[], object]) -> float:
    """Seconds of the fastest of the calls that fit into the time."""
    action()
    best = float("inf")
    end = time.perf_counter() + _SPENT
    while (start := time.perf_counter()) < end:
        action()
        best = min(best, time.perf_counter() - start)
    return best if best < _LONG else min(best, _best_undisturbed(action))


def _best_undisturbed(action: Callable[[], object]) -> float:
    """The same of calls that last so long that a busy machine leaves none in peace."""
    best = float("inf")
    end = time.perf_counter() + _SPENT
    while time.perf_counter() < end:
        before, ran = process_tree.waits(os.getpid()), time.process_time()
        start = time.perf_counter()
        action()
        wall = time.perf_counter() - start
        ran = time.process_time() - ran
        waits = process_tree.waits(os.getpid())
        waited = max(since - before.get(thread, 0) for thread, since in waits.items()) / 1e9
        best = min(best, undisturbed(wall, ran, waited, len(os.sched_getaffinity(0))))
    return best


if __name__ == "__main__":
    os.sched_setaffinity(0, json.loads(sys.argv[1]))
    sys.stdout.write(json.dumps(measure()))
