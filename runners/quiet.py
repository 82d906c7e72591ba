"""Waiting until this machine has little else to do, so that what is measured next is not halved by it."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import psutil

#: Share of all cores' time, of everything that runs on the machine, under which it counts as quiet.
QUIET_LOAD = 0.15
#: Seconds of one look, and looks in a row: what reads a file or waits for a peer looks idle for one.
_LOOK_SECONDS = 1.0
_LOOKS = 3


@dataclass(frozen=True)
class Quiet:
    """What waiting came to."""

    load: float  # share of all cores' time in the last look, 0 to 1
    waited_seconds: float
    was_quiet: bool  # else the patience ran out


def machine_load() -> float:
    """Share of all cores' time that was taken during the next look."""
    return float(psutil.cpu_percent(interval=_LOOK_SECONDS)) / 100


def wait_for_quiet(
    patience: float,
    *,
    load: Callable[[], float] = machine_load,
    clock: Callable[[], float] = time.monotonic,
) -> Quiet:
    """Return once a few looks in a row find the machine quiet, or after ``patience`` seconds and one look."""
    begun, calm = clock(), 0
    while True:
        seen = load()
        calm = calm + 1 if seen < QUIET_LOAD else 0
        waited = clock() - begun
        if calm == _LOOKS or waited >= patience:
            return Quiet(seen, waited, calm == _LOOKS)
