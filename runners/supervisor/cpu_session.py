"""A submission on the CPU: frozen whenever the supervisor works, running only when asked to."""

import os
import secrets
from collections.abc import Sequence

import numpy as np

from runners.contract.job import DeviceTarget
from runners.contract.limits import ModeLimits
from runners.contract.spec import Case, TaskSpec
from runners.contract.vocabulary import Verdict
from runners.sandbox import process_tree
from runners.supervisor.child import Child, Died
from runners.supervisor.clock_cpu import CpuClock
from runners.supervisor.cores import Cores
from runners.supervisor.cpu_case import VERDICTS, CpuCase
from runners.supervisor.oracle import Oracle
from runners.supervisor.outcome import Ended

_START_SECONDS = 60.0  # importing torch on a cold disk
_LOAD_SECONDS = 60.0  # import of a submission may build extensions
_PROFILE_SECONDS = 60.0  # the profiler itself takes seconds to start
_SLOT_MEMORY = 2**30  # bytes of all slots of a case together
_EASY_MEMORY = 2**27  # bytes that are filled quickly enough for every batch
_MOST_SLOTS = 64
_FEWEST_SLOTS = 4
_NULL_BATCHES = 15


class CpuSession:
    """Implements DeviceSession on a child that was started a moment ago."""

    def __init__(
        self, spec: TaskSpec, target: DeviceTarget, limits: ModeLimits, *, child: Child, kind: str
    ) -> None:
        self.copies = False
        self._spec = spec
        self._target = target
        self._limits = limits
        self._kind = kind
        self._child = child
        self._clock = CpuClock(child, Cores(target.cores))
        self._oracle = Oracle(spec)
        self._null: list[float] = []
        self._copy: dict[str, float] = {}

    def start(self, timed_cases: Sequence[Case]) -> None:
        try:
            self._child.expect("ready", _START_SECONDS, "Starting the sandbox")
            for case in timed_cases:
                self._measure_null(case)
                if self._kind == "python":
                    self._measure_copy(case)
        except Died as error:
            words = self._child.output()[1].strip().rpartition("\n")[2]
            raise Ended(Verdict.INTERNAL_ERROR, f"The sandbox {error}: {words[:300]}") from None

    def _measure_null(self, case: Case) -> None:
        self._clock.request(
            {"do": "load", "kind": "nothing"}, _START_SECONDS, "ready", "Starting the sandbox"
        )
        self._null += self._batches(case, 1, [1])[1]

    def _measure_copy(self, case: Case) -> None:
        """Slope over two batch lengths, like the submission's own time."""
        self._clock.request({"do": "load", "kind": "copy"}, _START_SECONDS, "ready", "Starting torch")
        slots = self.slots_for(case)
        times = self._batches(case, slots, [1, slots])
        slope = (np.median(times[slots]) - np.median(times[1])) / (slots - 1)
        self._copy[case.name] = max(0.0, float(slope))

    def _batches(self, case: Case, slots: int, lengths: Sequence[int]) -> dict[int, list[float]]:
        """Times of a few batches of what the harness itself brings along."""
        opened = self.open(case, slots, timed=True)
        times: dict[int, list[float]] = {length: [] for length in lengths}
        try:
            for _ in range(_NULL_BATCHES):
                for length in lengths:
                    opened.arm(range(length))
                    times[length].append(opened.run())
        finally:
            opened.close()
        return times

    def load(self, payload: bytes) -> None:
        descriptor = os.memfd_create("submission", os.MFD_CLOEXEC)
        try:
            with os.fdopen(os.dup(descriptor), "wb") as stream:
                stream.write(payload)
            os.lseek(descriptor, 0, os.SEEK_SET)
            answer = self._clock.request(
                {"do": "load", "kind": self._kind},
                _LOAD_SECONDS,
                "ready",
                "Loading the submission",
                [descriptor],
            )
        except Died as error:
            raise Ended(Verdict.RUNTIME_ERROR, f"The submission {error} while it was loaded.") from None
        finally:
            os.close(descriptor)
        if answer["event"] == "error":
            text = str(answer.get("text", ""))[:2000]
            # No output exists yet: a broken contract is a missing entry point here.
            verdict = VERDICTS.get(str(answer.get("kind")), Verdict.RUNTIME_ERROR)
            verdict = Verdict.RUNTIME_ERROR if verdict == Verdict.WRONG else verdict
            raise Ended(verdict, f"Loading failed: {text}")
        self.copies = bool(answer.get("copies"))

    def null_overhead(self) -> float:
        return float(np.median(self._null)) if self._null else 0.0

    def copy_seconds(self, case: Case) -> float:
        return self._copy.get(case.name, 0.0) if self.copies else 0.0

    def slots_for(self, case: Case) -> int:
        per_slot = sum(tensor.nbytes(case.sizes) for tensor in (*self._spec.inputs, *self._spec.outputs))
        cache = int(self._target.facts.get("llc_bytes") or 32 * 2**20)
        # More where they are small: long batches lift a fast kernel above the noise of the hand-shake.
        wanted = max(_FEWEST_SLOTS, -(-2 * cache // per_slot), _EASY_MEMORY // per_slot)
        return max(2, min(wanted, _MOST_SLOTS, _SLOT_MEMORY // per_slot))

    def open(self, case: Case, slots: int, *, timed: bool) -> CpuCase:
        return CpuCase(self._clock, self._oracle, self._spec, case, slots, self._limits.call, timed=timed)

    def profile(self, case: Case) -> dict[str, object]:
        if self._kind != "python":
            return {}
        opened = self.open(case, 2, timed=True)
        try:
            for slot in range(2):  # the first call warms up
                opened.arm([slot])
                opened.fill(slot, secrets.token_bytes(16))
                if slot == 0:
                    opened.run()
            self._child.send({"do": "profile"})
            process_tree.thaw(self._clock.freeze())
            answer = self._child.expect("profile", _PROFILE_SECONDS, "Profiling")
        except Died as error:
            raise Ended(Verdict.RUNTIME_ERROR, f"The submission {error} under the profiler.") from None
        finally:
            opened.close()
        if answer["event"] == "error":
            raise Ended(Verdict.RUNTIME_ERROR, str(answer.get("text", ""))[:2000])
        return {"profiler": "torch.profiler", "table": str(answer.get("table", ""))[:40_000]}
