"""Measuring the ceilings of one CUDA device. Run as ``python -m runners.calibrate_cuda`` by calibrate.py."""

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from runners.harness.cuda_driver import CudaError
from runners.launch_cost import least_launch_seconds

_COPY_BYTES = 2**30
_MATMUL_SIZES = {"bfloat16": 8192, "float16": 8192, "float32": 8192, "float64": 4096}
_REPEATS = 20
_LAUNCHES = 2000


def measure() -> dict[str, Any]:
    """``copy_bytes_per_s``, ``read_bytes_per_s``, ``flops_per_s`` by dtype, ``launch_seconds``: the best of
    several repeats.

    float32 means full single precision: TF32 is another, coarser format.
    """
    torch.backends.cuda.matmul.allow_tf32 = False
    source = torch.randn(_COPY_BYTES // 4, device="cuda")
    target = torch.empty_like(source)
    copy = _best(partial(target.copy_, source))
    read = _best(partial(torch.sum, source))
    del source, target
    rates = {}
    for name, size in _MATMUL_SIZES.items():
        # Random values: a product of constants draws less power and runs faster than real data can.
        left, right = (torch.randn(size, size, device="cuda").to(getattr(torch, name)) for _ in "ab")
        out = torch.empty_like(left)
        rates[name] = 2 * size**3 / _best(partial(torch.matmul, left, right, out=out))
    one = torch.zeros(1, device="cuda")
    return {
        "copy_bytes_per_s": 2 * _COPY_BYTES / copy,
        "read_bytes_per_s": _COPY_BYTES / read,
        "flops_per_s": rates,
        "launch_seconds": _best(partial(one.add_, 1), calls=_LAUNCHES),
        **_least_launch(),
    }


def _least_launch() -> dict[str, float]:
    """``least_launch_seconds``, where it can be measured."""
    try:
        return {"least_launch_seconds": least_launch_seconds()}
    except (CudaError, OSError, subprocess.SubprocessError) as error:
        sys.stderr.write(f"the least cost of a launch could not be measured: {error}\n")
        return {}


def _best(action: Callable[[], object], calls: int = 1) -> float:
    """Seconds per call by events, the shortest of the repeats."""
    event: Any = torch.cuda.Event
    begin, end = event(enable_timing=True), event(enable_timing=True)
    action()
    times: list[float] = []
    for _ in range(_REPEATS):
        torch.cuda.synchronize()
        begin.record()
        for _ in range(calls):
            action()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / 1000 / calls)
    return min(times)


if __name__ == "__main__":
    if not torch.cuda.is_available():
        sys.exit("torch finds no CUDA device")
    sys.stdout.write(json.dumps(measure()))
