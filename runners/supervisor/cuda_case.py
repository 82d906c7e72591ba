"""One case on a CUDA device: its shared memory, the supervisor's own inputs, and the calls made on it."""

import hashlib
import math
import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from runners.contract.result import OutputError
from runners.contract.spec import Case, TaskSpec, TensorSpec
from runners.contract.vocabulary import Verdict
from runners.supervisor import torch_inputs
from runners.supervisor.bringing import BringSeconds
from runners.supervisor.checking import check_outputs
from runners.supervisor.child import Died
from runners.supervisor.child_session import VERDICTS, death
from runners.supervisor.clock_cuda import CudaClock
from runners.supervisor.compare import roughly_equal
from runners.supervisor.cuda_arena import PAGE, PART_BYTES, POISON, CudaArena, Layout, close_descriptors
from runners.supervisor.departures import Departure, candidates, put, room_for
from runners.supervisor.oracle import Oracle
from runners.supervisor.outcome import CaseFailed, Ended, LateWrite

_OPEN_SECONDS = 60.0
_CACHES = 2


class CudaCase:
    """Implements OpenCase."""

    waited = 0.0  # calls run on the device

    def __init__(
        self,
        clock: CudaClock,
        oracle: Oracle,
        spec: TaskSpec,
        case: Case,
        slots: int,
        call: float,
        *,
        timed: bool,
        bring: BringSeconds,
        cache: int,
    ) -> None:
        """``call`` is how long one batch may take. ``bring`` tells what bringing the inputs took before there
        was a submission; it is taken off each batch. ``cache`` is the size of the last-level cache, bytes.
        """
        self.case = case
        self.slots = self._most_slots = slots
        self._clock = clock
        self._oracle = oracle
        self._spec = spec
        self._call = call
        self._timed = timed
        self._bring_seconds = bring
        self._order: list[int] = []
        self._events: dict[int, list[float]] = {}
        self.told: float | None = None
        self._departed: dict[int, Departure] = {}
        inputs = Layout(spec.inputs, case.sizes, case.layouts)
        outputs = Layout(spec.outputs, case.sizes)
        # So many that no cache holds them, whatever of it a submission could reserve.
        self._cold_slots = -(-_CACHES * cache // (inputs.stride + outputs.stride))
        # What the child cannot see: inputs wait here until the clock runs, and are compared with afterwards.
        self._own = torch.zeros(slots * inputs.stride, dtype=torch.uint8, device=oracle.device)
        self._inputs = CudaArena(inputs, slots)
        self._outputs = CudaArena(outputs, slots)
        self._poison = torch.empty(outputs.stride, dtype=torch.uint8, device=oracle.device)
        outputs.poison(self._poison, 1)
        self._open()

    def _open(self) -> None:
        descriptors = [self._inputs.export(), self._outputs.export()]
        message = {
            "do": "case",
            "input_arena": self._inputs.describe(),
            "output_arena": self._outputs.describe(),
            "inputs_writable": True,  # device memory knows no read-only mapping
            "inputs": self._inputs.layout.describe(),
            "outputs": self._outputs.layout.describe(),
            "sizes": [self.case.sizes[name] for name in self._spec.sizes],
        }
        what = f"Preparing case {self.case.name}"
        try:
            answer = self._clock.request(message, _OPEN_SECONDS, "ready", what, descriptors)
        except Died as error:
            self.close()
            raise self._dead(error) from None
        except Ended:
            self.close()
            raise
        finally:
            close_descriptors(*descriptors)
        if answer["event"] == "error":
            self.close()
            raise Ended(Verdict.RUNTIME_ERROR, str(answer.get("text", ""))[:2000])

    def arm(self, order: Sequence[int]) -> None:
        self._confirm()
        self._order = list(order)
        what = f"Preparing a batch of calls in case {self.case.name}"
        try:
            answer = self._clock.request({"do": "arm", "slots": self._order}, self._call, "armed", what)
        except Died as error:
            raise self._dead(error) from None
        if answer["event"] == "error":
            raise self._failure(answer)

    def keep(self, slots: int) -> None:
        self.slots = min(max(slots, self._cold_slots), self._most_slots)

    def fill(self, slot: int, *seed: str | bytes) -> None:
        self._departed.pop(slot, None)
        layout = self._inputs.layout
        for index, tensor in enumerate(self._spec.inputs):
            random = torch_inputs.generator(self._oracle.device, *seed, tensor.name)
            kind = self.case.fills.get(tensor.name, tensor.fill)
            # What lies between the elements of a view is filled like them.
            place = layout.elements(self._own, slot, index)
            torch_inputs.fill(place, tensor, self.case.sizes, kind, random)

    def refill(self, order: Sequence[int]) -> None:
        """Every slot in use gets new inputs, armed or not: batches of every length find the device alike."""
        self._departed.clear()
        secret = secrets.token_bytes(16)
        for index, tensor in enumerate(self._spec.inputs):
            random = torch_inputs.generator(self._oracle.device, secret, tensor.name)
            kind = self.case.fills.get(tensor.name, tensor.fill)
            column = self._inputs.layout.column(self._own, self.slots, index)
            # A constant is drawn per slot; else many slots at once, in parts that leave room for conversion.
            step = 1 if kind == "constant" else max(1, PART_BYTES // (4 * column.shape[1]))
            for start in range(0, self.slots, step):
                part = column[start : start + step]
                torch_inputs.fill(part, tensor, self.case.sizes, kind, random)

    def draw(self, departure: Departure) -> torch.Tensor:
        tensor = departure.tensor
        values = room_for(departure, self._own_elements(0, tensor))
        random = torch_inputs.generator(self._oracle.device, secrets.token_bytes(16), tensor.name)
        torch_inputs.fill(values, tensor, self.case.sizes, departure.fill, random)
        return candidates(departure, values)

    def depart(self, slot: int, departure: Departure, values: torch.Tensor) -> None:
        put(departure, self._own_elements(slot, departure.tensor), values)
        self._departed[slot] = departure

    def renew(self) -> None:
        """Nothing: ``run`` poisons all outputs and brings all inputs in any case."""

    def run(self) -> float:
        what = f"A batch of calls in case {self.case.name}"
        self._outputs.layout.poison(self._outputs.bytes, self.slots)
        self._clock.drawn.draw(self._order, self._outputs.layout.stride // PAGE)
        try:
            seconds, answer = self._clock.batch(self._bring, self._outputs.pages, self._call, what)
        except Died as error:
            raise self._dead(error) from None
        except LateWrite:
            raise self._late() from None
        if answer["event"] == "error":
            raise self._failure(answer)
        # A batch that does the work of others ahead is seen in the slots that no armed call uses.
        idle = sorted(set(range(self.slots)) - set(self._order))
        if idle and not self._outputs.untouched(idle, self._poison):
            text = f"Case {self.case.name}: outputs of calls that were not made were written."
            raise Ended(Verdict.WRONG, text)
        told = reported_seconds(answer)
        if told is None:
            text = f"Case {self.case.name}: the process reported no time by the device's events. The harness "
            text += "always does: a submission has taken its place, and there is no time to report."
            raise Ended(Verdict.REFUSED, text)
        self.told = told
        self._events.setdefault(len(self._order), []).append(told)
        return seconds - self._bring_seconds.of(self.slots)

    def _confirm(self) -> None:
        """Compares the pages copied within the clock with the outputs that were verified since."""
        try:
            self._clock.drawn.confirm(self._outputs.pages)
        except LateWrite:
            raise self._late() from None

    def _late(self) -> Ended:
        text = f"Case {self.case.name}: outputs were still being written after the kernel had returned."
        return Ended(Verdict.WRONG, text)

    def _bring(self) -> None:
        """Copies the inputs of every slot in use, then empties the cache: slots are equally cold."""
        size = self.slots * self._inputs.layout.stride
        own, shared = (place[:size].view(torch.int64) for place in (self._own, self._inputs.bytes))
        # By a kernel, which takes turns with others on the device: a copy would leave the arithmetic units to
        # a submission that has begun on the inputs that are there already.
        torch.bitwise_or(own, 0, out=shared)
        self._clock.flush_cache()

    def check(self, slot: int) -> list[OutputError]:
        if self._timed:
            self.check_inputs(slot)
        layout = self._outputs.layout
        for index, output in enumerate(self._spec.outputs):
            if not bool((layout.padding(self._outputs.bytes, slot, index) == POISON).all()):
                raise CaseFailed(Verdict.WRONG, f"output {output.name}: memory behind its end was written")
        given = self._inputs.layout.slot_tensors(self._own, slot)
        got = layout.slot_tensors(self._outputs.bytes, slot)
        return check_outputs(self._oracle, self._spec, self.case, given, got, self._departed.get(slot))

    def roughly_right(self, slot: int) -> bool:
        layout = self._outputs.layout
        wanted = self._oracle.roughly(self._inputs.layout.slot_tensors(self._own, slot), self.case.sizes)
        return all(
            roughly_equal(
                layout.tensor(self._outputs.bytes, slot, index), want, self._spec.tolerances[output.dtype]
            )
            for index, (output, want) in enumerate(zip(self._spec.outputs, wanted, strict=True))
        )

    def check_inputs(self, slot: int) -> None:
        layout = self._inputs.layout
        for index, tensor in enumerate(self._spec.inputs):
            if not torch.equal(
                layout.raw(self._own, slot, index), layout.raw(self._inputs.bytes, slot, index)
            ):
                text = f"input {tensor.name} was changed; inputs must be left as they are"
                raise CaseFailed(Verdict.WRONG, text)

    def fingerprint(self, slot: int) -> bytes:
        digest = hashlib.blake2b(digest_size=16)
        layout = self._outputs.layout
        for index in range(len(self._spec.outputs)):
            digest.update(layout.raw(self._outputs.bytes, slot, index).cpu().numpy().data)
        return digest.digest()

    def event_seconds(self, short: int, long: int) -> float | None:
        self._confirm()  # of the last batch, whose outputs were all verified
        if short not in self._events or long not in self._events:
            return None
        few, many = (float(np.median(self._events[length])) for length in (short, long))
        return (many - few) / (long - short)

    def close(self) -> None:
        self._clock.drawn.forget()
        self._inputs.close()
        self._outputs.close()
        del self._own, self._poison
        torch.cuda.empty_cache()  # the submission needs the room

    def _own_elements(self, slot: int, tensor: TensorSpec) -> torch.Tensor:
        return self._inputs.layout.elements(self._own, slot, self._spec.inputs.index(tensor))

    def _failure(self, answer: dict[str, Any]) -> CaseFailed | Ended:
        """What an error of the child's becomes. After an error of the device its context is lost."""
        kind, text = str(answer.get("kind")), str(answer.get("text", ""))[:2000]
        if kind == "device":
            return Ended(Verdict.RUNTIME_ERROR, f"Case {self.case.name}: {text}")
        return CaseFailed(VERDICTS.get(kind, Verdict.RUNTIME_ERROR), text)

    def _dead(self, error: Died) -> Ended:
        return death(error, self.case.name)


def reported_seconds(answer: dict[str, Any]) -> float | None:
    """What the child says that the device's events say; None when it says nothing that is a time."""
    told = answer.get("event_seconds")
    if isinstance(told, bool) or not isinstance(told, (int, float)):
        return None
    return float(told) if 0 <= told < math.inf else None
