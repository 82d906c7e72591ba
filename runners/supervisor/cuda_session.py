"""A submission on a CUDA device. The supervisor uses the same device for its inputs, reference and
comparison, while the submission waits.
"""

import numpy as np
import torch

from runners.contract.job import DeviceTarget
from runners.contract.limits import ModeLimits
from runners.contract.spec import Case, TaskSpec
from runners.contract.vocabulary import Verdict
from runners.harness import cuda_driver
from runners.supervisor.bringing import BringSeconds
from runners.supervisor.child import Child
from runners.supervisor.child_session import ChildSession
from runners.supervisor.clock_cuda import CudaClock
from runners.supervisor.cores import Cores
from runners.supervisor.cuda_arena import ORDINAL, Layout
from runners.supervisor.cuda_case import CudaCase
from runners.supervisor.floors import floor_seconds
from runners.supervisor.gpu_state import GpuState
from runners.supervisor.oracle import Oracle
from runners.supervisor.outcome import Ended

_DEVICE = f"cuda:{ORDINAL}"
_MOST_SLOTS = 8192
_FEWEST_SLOTS = 16
#: Share of a long batch's usual time that the fastest kernel's should last: the hand-shake varies by a tenth
#: of a millisecond.
_LONG_BATCH = 0.8
#: The least that one call takes, whatever it does: a launch from C, and one from Python.
_CALL_SECONDS = {"library": 2.5e-6, "python": 6e-6}
_BANDWIDTH = 8e12  # bytes per second of the fastest memory there is, for devices not measured yet
#: Empty batches on each part of the slots, one in so many.
_NULL_BATCHES, _PARTS = 8, (8, 2)
#: Share of the memory that is free at the start. The rest is left to the oracle and to the submission.
_SLOT_MEMORY = 0.45


class CudaSession(ChildSession):
    """Implements DeviceSession on a child that was started a moment ago."""

    runs_to_bring = True

    def __init__(
        self, spec: TaskSpec, target: DeviceTarget, limits: ModeLimits, *, child: Child, kind: str
    ) -> None:
        if not torch.cuda.is_available():
            raise Ended(Verdict.INTERNAL_ERROR, "torch finds no CUDA device on this runner.")
        torch.zeros(1, device=_DEVICE)  # opens the primary context, which the driver calls below use
        cuda_driver.use_device(ORDINAL)
        properties = torch.cuda.get_device_properties(ORDINAL)
        self._room = int(torch.cuda.mem_get_info(ORDINAL)[0] * _SLOT_MEMORY)
        self._cache = int(properties.L2_cache_size)
        self._cuda_clock = CudaClock(child, Cores(target.cores), _DEVICE, self._cache)
        self._ceilings = target.ceilings
        self._oracle = Oracle(spec, _DEVICE)
        self._bring: dict[str, BringSeconds] = {}
        self._nulls: dict[str, float] = {}
        self._state = GpuState(target.index)
        super().__init__(spec, limits, self._cuda_clock, child=child, kind=kind)

    def condition(self) -> dict[str, object]:
        return self._state.read()

    def measure_null(self, case: Case) -> list[float]:
        """Batches without a call on two parts of the slots that may be timed, freshly filled as they will be.

        What bringing the inputs takes is told apart: it is known before any submission could stretch it.
        """
        slots = self.slots_for(case)
        self._bring.pop(case.name, None)
        opened = self.open(case, slots, timed=True)
        brought: dict[int, float] = {}
        nulls: list[float] = []
        try:
            # All of them only where a part is not less: they cost most, and lie on the line through two.
            for part in (*_PARTS, 1):
                opened.keep(max(2, slots // part))
                if opened.slots in brought or (part == 1 and len(brought) > 1):
                    continue
                times, bringing = zip(*(self._empty_batch(opened) for _ in range(_NULL_BATCHES)), strict=True)
                brought[opened.slots] = float(np.median(bringing))
                nulls += [seconds - brought[opened.slots] for seconds in times]
        finally:
            opened.close()
        self._bring[case.name] = BringSeconds(brought)
        self._nulls[case.name] = float(np.median(nulls))
        return nulls

    def _empty_batch(self, opened: CudaCase) -> tuple[float, float]:
        """Its seconds, and those of them that bringing the inputs took."""
        opened.arm([0])
        opened.refill([0])
        return opened.run(), self._cuda_clock.bring_seconds

    def null_overhead(self, case: Case) -> float:
        return self._nulls.get(case.name, 0.0)

    def quickest_null(self, case: Case) -> float:
        """A GPU's empty batches hardly vary, and what brings their inputs was taken off by its median."""
        return self.null_overhead(case)

    def slots_for(self, case: Case) -> int:
        per_slot = sum(
            Layout(tensors, case.sizes).stride * copies
            for tensors, copies in ((self.spec.inputs, 2), (self.spec.outputs, 1))
        )
        floor = floor_seconds(self.spec, case, self._ceilings) or self.spec.case_bytes(case) / _BANDWIDTH
        call = max(floor, _CALL_SECONDS[self.kind])
        wanted = max(_FEWEST_SLOTS, round(_LONG_BATCH * self.limits.long_batch / call))
        return max(2, min(wanted, _MOST_SLOTS, self._room // per_slot))

    def open(self, case: Case, slots: int, *, timed: bool) -> CudaCase:
        bring = self._bring.get(case.name, BringSeconds({})) if timed else BringSeconds({})
        try:
            return CudaCase(
                self._cuda_clock,
                self._oracle,
                self.spec,
                case,
                slots,
                self.limits.call,
                timed=timed,
                bring=bring,
                cache=self._cache,
            )
        except (torch.OutOfMemoryError, cuda_driver.CudaError) as error:
            if isinstance(error, cuda_driver.CudaError) and not error.out_of_memory:
                raise
            text = f"The GPU has no room for case {case.name}: the submission holds too much of its memory."
            raise Ended(Verdict.RESOURCE_LIMIT, text) from None
