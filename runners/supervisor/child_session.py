"""What sessions on every kind of device have in common: starting the child, delivering the submission,
overheads.
"""

import os
import secrets
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from runners.contract.limits import ModeLimits
from runners.contract.spec import Case, TaskSpec
from runners.contract.vocabulary import Verdict
from runners.supervisor import profiling
from runners.supervisor.child import Child, Died
from runners.supervisor.outcome import Ended
from runners.supervisor.session import OpenCase

_START_SECONDS = 60.0  # importing torch on a cold disk
_LOAD_SECONDS = 60.0  # import of a submission may build extensions
_NULL_BATCHES = 15
#: What a word of the child's about its own failure becomes.
VERDICTS = {
    "contract": Verdict.WRONG,
    "entry_point": Verdict.COMPILE_ERROR,
    "resource": Verdict.RESOURCE_LIMIT,
}


class Clock(Protocol):
    """The part of a device's clock that is needed here."""

    def request(
        self, message: dict[str, Any], limit: float, event: str, what: str, descriptors: Sequence[int] = ()
    ) -> dict[str, Any]:
        """Lets the child work on ``message``, untimed; its answer is ``event`` or an error."""


class ChildSession(ABC):
    """Base of the DeviceSessions; ``open`` and ``slots_for`` are the device's own."""

    runs_to_bring = False  # whether inputs that were filled reach the submission by a run alone

    def __init__(self, spec: TaskSpec, limits: ModeLimits, clock: Clock, *, child: Child, kind: str) -> None:
        self.copies = False
        self.spec = spec
        self.limits = limits
        self.kind = kind
        self.child = child
        self._clock = clock
        self._null: list[float] = []

    def start(self, timed_cases: Sequence[Case]) -> None:
        try:
            self.child.expect("ready", _START_SECONDS, "Starting the sandbox")
            for case in timed_cases:
                self._clock.request(
                    {"do": "load", "kind": "nothing"}, _START_SECONDS, "ready", "Starting the sandbox"
                )
                self._null += self.measure_null(case)
        except Died as error:
            words = self.child.output()[1].strip().rpartition("\n")[2]
            raise Ended(Verdict.INTERNAL_ERROR, f"The sandbox {error}: {words[:300]}") from None

    def measure_null(self, case: Case) -> list[float]:
        """Seconds of batches that do nothing."""
        opened = self.open(case, 1, timed=True)
        times = []
        try:
            for _ in range(_NULL_BATCHES):
                opened.arm([0])
                times.append(opened.run())
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
                {"do": "load", "kind": self.kind},
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

    def null_overhead(self, case: Case) -> float:
        return float(np.median(self._null)) if self._null else 0.0

    def quickest_null(self, case: Case) -> float:
        """As in DeviceSession."""
        return min(self._null, default=0.0)

    def condition(self) -> dict[str, object]:
        return {}

    def profile(self, case: Case) -> dict[str, Any]:
        """As in DeviceSession."""
        if self.kind != "python":
            return {}
        opened = self.open(case, 2, timed=True)
        try:
            for slot in range(2):  # the first call warms up
                opened.arm([slot])
                opened.fill(slot, secrets.token_bytes(16))
                if slot == 0 or self.runs_to_bring:
                    opened.run()
            with profiling.trace_memory() as memory:
                answer = self._clock.request(
                    {"do": "profile"}, profiling.SECONDS, "profile", "Profiling", [memory.descriptor]
                )
                told = profiling.told(answer, memory)
        except Died as error:
            raise Ended(Verdict.RUNTIME_ERROR, f"The submission {error} under the profiler.") from None
        finally:
            opened.close()
        if answer["event"] == "error":
            raise Ended(Verdict.RUNTIME_ERROR, str(answer.get("text", ""))[:2000])
        return told

    @abstractmethod
    def slots_for(self, case: Case) -> int:
        """As in DeviceSession."""

    @abstractmethod
    def open(self, case: Case, slots: int, *, timed: bool) -> OpenCase:
        """As in DeviceSession."""


def death(error: Died, case: str, hint: str = "") -> Ended:
    """The verdict of a death. A limit that the kernel enforces kills with a signal of its own."""
    words = str(error)
    limits = ("SIGXCPU", "SIGXFSZ", "SIGKILL")  # SIGKILL: out of memory
    verdict = Verdict.RESOURCE_LIMIT if any(name in words for name in limits) else Verdict.RUNTIME_ERROR
    return Ended(verdict, f"The submission {words} in case {case}{hint}.")
