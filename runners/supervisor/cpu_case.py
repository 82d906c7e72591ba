"""One case on the CPU: its shared memory, and the calls made on it."""

import hashlib
import os
from collections.abc import Sequence

import numpy as np
import torch

from runners.contract.result import OutputError
from runners.contract.spec import Case, TaskSpec, TensorSpec
from runners.contract.vocabulary import Verdict
from runners.supervisor import inputs
from runners.supervisor.arena import Arena, Bytes
from runners.supervisor.checking import check_outputs
from runners.supervisor.child import Died
from runners.supervisor.child_session import VERDICTS, death
from runners.supervisor.clock_cpu import CpuClock
from runners.supervisor.compare import roughly_equal
from runners.supervisor.departures import Departure, candidates, put, room_for
from runners.supervisor.input_pool import InputPool
from runners.supervisor.oracle import Oracle
from runners.supervisor.outcome import CaseFailed, Ended, LateWrite

_OPEN_SECONDS = 60.0  # mapping and populating a gigabyte


class CpuCase:
    """Implements OpenCase."""

    told: float | None = None  # a CPU has no events

    def __init__(
        self,
        clock: CpuClock,
        oracle: Oracle,
        spec: TaskSpec,
        case: Case,
        slots: int,
        call: float,
        *,
        timed: bool,
    ) -> None:
        """``call`` is how long one batch may take, seconds. Inputs of ``timed`` cases are read-only
        inside.
        """
        self.case = case
        self.slots = slots
        self._clock = clock
        self._oracle = oracle
        self._spec = spec
        self._call = call
        self._writable = not timed
        self._kept: dict[int, list[Bytes]] = {}  # of inputs that the child could write
        self._pools: list[InputPool] = []
        self._departed: dict[int, Departure] = {}
        self._order: list[int] = []
        self.waited = 0.0
        self._written = set(range(slots))  # slots whose outputs may hold more than poison
        self._inputs = Arena(spec.inputs, case.sizes, slots, child_writes=not timed, layouts=case.layouts)
        self._outputs = Arena(spec.outputs, case.sizes, slots, child_writes=True)
        message = {
            "do": "case",
            "input_arena": self._inputs.describe(),
            "output_arena": self._outputs.describe(),
            "inputs_writable": self._writable,
            "inputs": self._inputs.describe_tensors(),
            "outputs": self._outputs.describe_tensors(),
            "sizes": [case.sizes[name] for name in spec.sizes],
        }
        try:
            descriptors = [self._inputs.fd, self._outputs.fd]
            answer = clock.request(
                message, _OPEN_SECONDS, "ready", f"Preparing case {case.name}", descriptors
            )
        except Died as error:
            self.close()
            raise self._dead(error) from None
        except Ended:
            self.close()
            raise
        if answer["event"] == "error":
            self.close()
            raise Ended(Verdict.RUNTIME_ERROR, str(answer.get("text", ""))[:2000])

    def arm(self, order: Sequence[int]) -> None:
        self._order = list(order)
        try:
            what = f"Preparing a batch of calls in case {self.case.name}"
            answer = self._clock.request({"do": "arm", "slots": self._order}, self._call, "armed", what)
        except Died as error:
            raise self._dead(error) from None
        if answer["event"] == "error":
            raise Ended(Verdict.RUNTIME_ERROR, str(answer.get("text", ""))[:2000])

    def fill(self, slot: int, *seed: str | bytes) -> None:
        self._freeze()
        for index, tensor in enumerate(self._spec.inputs):
            random = inputs.generator(*seed, tensor.name)
            kind = self.case.fills.get(tensor.name, tensor.fill)
            inputs.fill(self._inputs.raw(slot, index), tensor, self.case.sizes, kind, random)
        self._written_afresh(slot)

    def refill(self, order: Sequence[int]) -> None:
        self._freeze()
        self._pools = self._pools or [InputPool(tensor, self.case) for tensor in self._spec.inputs]
        for slot in order:
            for pool, place in zip(self._pools, self._slot_inputs(slot), strict=True):
                pool.fill(place)
            self._written_afresh(slot)

    def draw(self, departure: Departure) -> torch.Tensor:
        tensor = departure.tensor
        values = room_for(departure, self._elements(0, tensor))
        random = inputs.generator(os.urandom(16), tensor.name)
        inputs.fill(values.view(torch.uint8).numpy(), tensor, self.case.sizes, departure.fill, random)
        return candidates(departure, values)

    def depart(self, slot: int, departure: Departure, values: torch.Tensor) -> None:
        put(departure, self._elements(slot, departure.tensor), values)
        self._departed[slot] = departure

    def keep(self, slots: int) -> None:
        """Nothing: only the armed slots of a batch are filled, and drawn from all the harder to foresee."""

    def renew(self) -> None:
        self._freeze()
        for slot in self._order:
            self._outputs.poison(slot)

    def run(self) -> float:
        idle = [slot for slot in range(self.slots) if slot not in self._order]
        for slot in self._written.intersection(idle):
            self._outputs.poison(slot)
        self._written = set(self._order)
        try:
            what = f"A batch of calls in case {self.case.name}"
            seconds, answer = self._clock.batch(self._outputs.pages, self._call, what)
        except Died as error:
            raise self._dead(error) from None
        except LateWrite:
            text = f"Case {self.case.name}: outputs were still being written after the kernel had returned."
            raise Ended(Verdict.WRONG, text) from None
        self.waited = self._clock.waited_seconds
        if answer["event"] == "error":
            verdict = VERDICTS.get(str(answer.get("kind")), Verdict.RUNTIME_ERROR)
            raise CaseFailed(verdict, str(answer.get("text", ""))[:2000])
        if not all(map(self._outputs.is_poison, idle)):
            text = f"Case {self.case.name}: outputs of calls that were not made were written."
            raise Ended(Verdict.WRONG, text)
        return seconds

    def check(self, slot: int) -> list[OutputError]:
        got = [self._outputs.tensor(slot, index) for index in range(len(self._spec.outputs))]
        departure = self._departed.get(slot)
        return check_outputs(self._oracle, self._spec, self.case, self._given(slot), got, departure)

    def roughly_right(self, slot: int) -> bool:
        wanted = self._oracle.roughly(self._slot_inputs(slot), self.case.sizes)
        return all(
            roughly_equal(self._outputs.tensor(slot, index), want, self._spec.tolerances[output.dtype])
            for index, (output, want) in enumerate(zip(self._spec.outputs, wanted, strict=True))
        )

    def check_inputs(self, slot: int) -> None:
        kept = self._kept.get(slot)
        if kept is None:
            return
        for index, (tensor, before) in enumerate(zip(self._spec.inputs, kept, strict=True)):
            if not np.array_equal(before, self._inputs.raw(slot, index)):
                text = f"input {tensor.name} was changed; inputs must be left as they are"
                raise CaseFailed(Verdict.WRONG, text)

    def fingerprint(self, slot: int) -> bytes:
        digest = hashlib.blake2b(digest_size=16)
        for index in range(len(self._outputs.tensors)):
            digest.update(self._outputs.raw(slot, index).data)
        return digest.digest()

    def event_seconds(self, short: int, long: int) -> float | None:
        return None

    def close(self) -> None:
        """Raises Ended where outputs may have been written while they were looked at."""
        try:
            self._clock.confirm()
        except Died as error:
            raise self._dead(error) from None
        finally:
            self._kept.clear()
            self._pools.clear()
            self._inputs.close()
            self._outputs.close()

    def _freeze(self) -> None:
        try:
            self._clock.freeze()
        except Died as error:
            raise self._dead(error) from None

    def _written_afresh(self, slot: int) -> None:
        if self._writable:
            self._kept[slot] = [
                self._inputs.raw(slot, index).copy() for index in range(len(self._spec.inputs))
            ]
        self._departed.pop(slot, None)
        self._outputs.poison(slot)

    def _slot_inputs(self, slot: int) -> list[torch.Tensor]:
        return [self._inputs.tensor(slot, index) for index in range(len(self._inputs.tensors))]

    def _elements(self, slot: int, tensor: TensorSpec) -> torch.Tensor:
        """All elements of an input in the order of memory, those between its own included."""
        raw = self._inputs.raw(slot, self._spec.inputs.index(tensor))
        return torch.from_numpy(raw).view(getattr(torch, tensor.dtype))

    def _given(self, slot: int) -> list[torch.Tensor]:
        """The inputs as they were written, whatever the child did to them."""
        kept = self._kept.get(slot)
        if kept is None:
            return self._slot_inputs(slot)
        return [self._inputs.shown(raw, index) for index, raw in enumerate(kept)]

    def _dead(self, error: Died) -> Ended:
        read_only = not self._writable and "SIGSEGV" in str(error)
        hint = " (inputs are read-only while a kernel is timed)" if read_only else ""
        return death(error, self.case.name, hint)
