"""A submission on the CPU: frozen whenever the supervisor works, running only when asked to."""

from runners.contract.job import DeviceTarget
from runners.contract.limits import ModeLimits
from runners.contract.spec import Case, TaskSpec
from runners.supervisor.child import Child
from runners.supervisor.child_session import ChildSession
from runners.supervisor.clock_cpu import CpuClock
from runners.supervisor.cores import Cores
from runners.supervisor.cpu_case import CpuCase
from runners.supervisor.oracle import Oracle

_SLOT_MEMORY = 2**30  # bytes of all slots of a case together
_EASY_MEMORY = 2**27  # bytes that are filled quickly enough for every batch
_MOST_SLOTS = 64
_FEWEST_SLOTS = 4


class CpuSession(ChildSession):
    """Implements DeviceSession on a child that was started a moment ago."""

    def __init__(
        self, spec: TaskSpec, target: DeviceTarget, limits: ModeLimits, *, child: Child, kind: str
    ) -> None:
        self._cpu_clock = CpuClock(child, Cores(target.cores))
        super().__init__(spec, limits, self._cpu_clock, child=child, kind=kind)
        self._target = target
        self._oracle = Oracle(spec)

    def slots_for(self, case: Case) -> int:
        per_slot = sum(tensor.nbytes(case.sizes) for tensor in (*self.spec.inputs, *self.spec.outputs))
        cache = int(self._target.facts.get("llc_bytes") or 32 * 2**20)
        # More where they are small: long batches lift a fast kernel above the noise of the hand-shake.
        wanted = max(_FEWEST_SLOTS, -(-2 * cache // per_slot), _EASY_MEMORY // per_slot)
        return max(2, min(wanted, _MOST_SLOTS, _SLOT_MEMORY // per_slot))

    def open(self, case: Case, slots: int, *, timed: bool) -> CpuCase:
        call = self.limits.call
        return CpuCase(self._cpu_clock, self._oracle, self.spec, case, slots, call, timed=timed)
