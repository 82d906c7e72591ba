"""The CPU as a device, for test processes that measure side by side."""

import os
from dataclasses import replace

from runners.devices import DetectedDevice, detect

#: Asked once: a supervisor in this process moves it about.
_USABLE = sorted(os.sched_getaffinity(0))


def own_cpu() -> DetectedDevice:
    """The machine's CPU, less another core for each test process: else all would measure on the same ones."""
    left_out = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % len(_USABLE)
    cores = tuple(core for core in _USABLE if core != _USABLE[left_out])
    return replace(detect()[0], cores=cores or tuple(_USABLE))
