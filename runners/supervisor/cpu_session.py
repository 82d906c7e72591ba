"""A submission on the CPU: frozen whenever the supervisor works, running only when asked to."""

import secrets
from typing import Any

from runners.contract.job import DeviceTarget
from runners.contract.limits import ModeLimits
from runners.contract.spec import Case, TaskSpec
from runners.contract.vocabulary import Verdict
from runners.sandbox import process_tree
from runners.supervisor import profiling
from runners.supervisor.child import Child, Died
from runners.supervisor.child_session import ChildSession
from runners.supervisor.clock_cpu import CpuClock
from runners.supervisor.cores import Cores
from runners.supervisor.cpu_case import CpuCase
from runners.supervisor.oracle import Oracle
from runners.supervisor.outcome import Ended

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

    def profile(self, case: Case) -> dict[str, Any]:
        if self.kind != "python":
            return {}
        opened = self.open(case, 2, timed=True)
        try:
            for slot in range(2):  # the first call warms up
                opened.arm([slot])
                opened.fill(slot, secrets.token_bytes(16))
                if slot == 0:
                    opened.run()
            with profiling.trace_memory() as memory:
                self.child.send({"do": "profile"}, [memory.descriptor])
                process_tree.thaw(self._cpu_clock.freeze())
                answer = self.child.expect("profile", profiling.SECONDS, "Profiling")
                told = profiling.told(answer, memory)
        except Died as error:
            raise Ended(Verdict.RUNTIME_ERROR, f"The submission {error} under the profiler.") from None
        finally:
            opened.close()
        if answer["event"] == "error":
            raise Ended(Verdict.RUNTIME_ERROR, str(answer.get("text", ""))[:2000])
        return told
