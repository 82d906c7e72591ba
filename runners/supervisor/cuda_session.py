"""A submission on a CUDA device. The supervisor uses the same device for its inputs, reference and
comparison, while the submission waits.
"""

import secrets

import numpy as np
import torch

from runners.contract.job import DeviceTarget
from runners.contract.limits import ModeLimits
from runners.contract.spec import Case, TaskSpec
from runners.contract.vocabulary import Verdict
from runners.harness import cuda_driver
from runners.supervisor.child import Child, Died
from runners.supervisor.child_session import ChildSession
from runners.supervisor.clock_cuda import CudaClock
from runners.supervisor.cores import Cores
from runners.supervisor.cuda_arena import ORDINAL, Layout
from runners.supervisor.cuda_case import CudaCase
from runners.supervisor.gpu_state import GpuState
from runners.supervisor.oracle import Oracle
from runners.supervisor.outcome import Ended

_DEVICE = f"cuda:{ORDINAL}"
_MOST_SLOTS = 64
_PROFILE_SECONDS = 60.0  # the profiler itself takes seconds to start
_FEWEST_SLOTS = 16
_CACHES = 3  # slots together hold this many times the L2 cache
#: Shares of the memory that is free at the start. The rest is left to the oracle and to the submission.
_SLOT_MEMORY = 0.3


class CudaSession(ChildSession):
    """Implements DeviceSession on a child that was started a moment ago."""

    def __init__(
        self, spec: TaskSpec, target: DeviceTarget, limits: ModeLimits, *, child: Child, kind: str
    ) -> None:
        if not torch.cuda.is_available():
            raise Ended(Verdict.INTERNAL_ERROR, "torch finds no CUDA device on this runner.")
        torch.zeros(1, device=_DEVICE)  # opens the primary context, which the driver calls below use
        cuda_driver.use_device(ORDINAL)
        properties = torch.cuda.get_device_properties(ORDINAL)
        self._cache = int(properties.L2_cache_size)
        self._room = int(torch.cuda.mem_get_info(ORDINAL)[0] * _SLOT_MEMORY)
        self._cuda_clock = CudaClock(child, Cores(target.cores), _DEVICE)
        self._oracle = Oracle(spec, _DEVICE)
        self._bring: dict[str, float] = {}
        self._state = GpuState(target.index)
        super().__init__(spec, limits, self._cuda_clock, child=child, kind=kind)

    def condition(self) -> dict[str, object]:
        return self._state.read()

    def measure_null(self, case: Case) -> list[float]:
        """Batches without a call, on as many slots as will be timed: first what bringing the inputs takes."""
        slots = self.slots_for(case)
        self._bring.pop(case.name, None)
        brought: list[float] = []
        times = self.batches(case, slots, [1], after=lambda: brought.append(self._cuda_clock.bring_seconds))
        self._bring[case.name] = float(np.median(brought))
        return [seconds - self._bring[case.name] for seconds in times[1]]

    def slots_for(self, case: Case) -> int:
        per_slot = sum(
            Layout(tensors, case.sizes).stride * copies
            for tensors, copies in ((self.spec.inputs, 2), (self.spec.outputs, 1))
        )
        wanted = max(_FEWEST_SLOTS, -(-_CACHES * self._cache // per_slot))
        return max(2, min(wanted, _MOST_SLOTS, self._room // per_slot))

    def open(self, case: Case, slots: int, *, timed: bool) -> CudaCase:
        bring = self._bring.get(case.name, 0.0) if timed else 0.0
        try:
            return CudaCase(
                self._cuda_clock,
                self._oracle,
                self.spec,
                case,
                slots,
                self.limits.call,
                timed=timed,
                bring_seconds=bring,
            )
        except (torch.OutOfMemoryError, cuda_driver.CudaError) as error:
            if isinstance(error, cuda_driver.CudaError) and not error.out_of_memory:
                raise
            text = f"The GPU has no room for case {case.name}: the submission holds too much of its memory."
            raise Ended(Verdict.RESOURCE_LIMIT, text) from None

    def profile(self, case: Case) -> dict[str, object]:
        if self.kind != "python":
            return {}
        opened = self.open(case, 2, timed=False)
        try:
            for slot in range(2):  # the first call warms up
                opened.arm([slot])
                opened.fill(slot, secrets.token_bytes(16))
                opened.run()
            answer = self._cuda_clock.request({"do": "profile"}, _PROFILE_SECONDS, "profile", "Profiling")
        except Died as error:
            raise Ended(Verdict.RUNTIME_ERROR, f"The submission {error} under the profiler.") from None
        finally:
            opened.close()
        if answer["event"] == "error":
            raise Ended(Verdict.RUNTIME_ERROR, str(answer.get("text", ""))[:2000])
        return {"profiler": "torch.profiler", "table": str(answer.get("table", ""))[:40_000]}
