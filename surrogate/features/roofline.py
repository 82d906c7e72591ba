"""The least time a task can take on a device, from measured ceilings."""

import math
from collections.abc import Mapping
from typing import Any

from surrogate.contract.request import DeviceFacts, TaskFacts


def bound_seconds(task: TaskFacts, device: DeviceFacts) -> float | None:
    """Geometric mean over the cases of max(bytes ÷ bandwidth, FLOPs ÷ rate, launch).

    None when the task states no bytes and FLOPs or the device has no ceilings.
    """
    if not task.cases:
        return None
    logs = []
    for case in task.cases:
        parts = [_positive(device.ceilings.get("launch_seconds"))]
        bandwidth = _positive(device.ceilings.get("copy_bytes_per_s"))
        rate = flops_rate(device.ceilings, task.flops_dtype)
        if case.bytes and bandwidth:
            parts.append(case.bytes / bandwidth)
        if case.flops and rate:
            parts.append(case.flops / rate)
        known = [part for part in parts[1:] if part]
        if not known:
            return None
        logs.append(math.log(max(part for part in parts if part)))
    return math.exp(sum(logs) / len(logs))


def flops_rate(ceilings: Mapping[str, Any], dtype: str) -> float | None:
    """Measured operations per second for ``dtype``, else for float32."""
    rates = ceilings.get("flops_per_s")
    if not isinstance(rates, Mapping):
        return None
    return _positive(rates.get(dtype)) or _positive(rates.get("float32"))


def _positive(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value > 0 else None
