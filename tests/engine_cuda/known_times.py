"""A device whose true times are known, for the time stage to measure."""

import random
from collections.abc import Callable, Sequence
from typing import Any

from runners.contract.limits import ModeLimits
from runners.contract.result import Timing
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import Mode
from runners.supervisor.timing import CaseTimer

LIMITS = ModeLimits(deadline=120, compile=60, call=30, case_timing=30, warm_up=0)
NULL = 150e-6  # seconds of an empty batch


class KnownDevice:
    """Stands for session and open case: a batch takes the hand-shake, what it varies by, and its calls."""

    copies = False
    waited = 0.0
    told: float | None = None

    def __init__(self, slots: int, batch: Callable[[int], float], told: float) -> None:
        self.slots = self._most = slots
        self.lengths: list[int] = []
        self.checked = self.looked_at = 0
        self._batch, self._told = batch, told
        self._noise = random.Random(1)

    def open(self, case: object, slots: int, *, timed: bool) -> "KnownDevice":
        return self

    def slots_for(self, case: object) -> int:
        return self.slots

    def null_overhead(self, case: object) -> float:
        return NULL

    quickest_null = null_overhead

    def arm(self, order: Sequence[int]) -> None:
        self.lengths.append(len(order))

    def keep(self, slots: int) -> None:
        self.slots = min(slots, self._most)

    def refill(self, order: Sequence[int]) -> None: ...

    def renew(self) -> None: ...

    def run(self) -> float:
        return NULL + self._noise.uniform(-50e-6, 150e-6) + self._batch(self.lengths[-1])

    def check(self, slot: int) -> list[dict[str, Any]]:
        self.checked += 1
        return []

    def roughly_right(self, slot: int) -> bool:
        self.looked_at += 1
        return True

    def event_seconds(self, short: int, long: int) -> float | None:
        return self._told

    def close(self) -> None: ...


def measure(device: KnownDevice, spec: TaskSpec, mode: Mode = Mode.RANKED, **ceilings: float) -> Timing:
    session: Any = device
    return CaseTimer(session, spec, spec.cases[1], mode, LIMITS).measure(ceilings, lambda text: None)
