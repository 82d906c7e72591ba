"""One case on a CUDA device: its shared memory, the supervisor's own inputs, and the calls made on it."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from runners.contract.result import OutputError
from runners.contract.spec import Case, TaskSpec
from runners.contract.vocabulary import Verdict
from runners.supervisor import torch_inputs
from runners.supervisor.child import Died
from runners.supervisor.child_session import VERDICTS, death
from runners.supervisor.clock_cuda import CudaClock
from runners.supervisor.compare import compare
from runners.supervisor.cuda_arena import POISON, CudaArena, Layout, close_descriptors
from runners.supervisor.oracle import Oracle
from runners.supervisor.outcome import CaseFailed, Ended, LateWrite

_OPEN_SECONDS = 60.0


class CudaCase:
    """Implements OpenCase."""

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
        bring_seconds: float,
    ) -> None:
        """``call`` is how long one batch may take. ``bring_seconds`` is what copying the inputs of all slots
        takes when nobody else uses the device; it is taken off each batch.
        """
        self.case = case
        self.slots = slots
        self._clock = clock
        self._oracle = oracle
        self._spec = spec
        self._call = call
        self._timed = timed
        self._bring_seconds = bring_seconds
        self._order: list[int] = []
        self._events: dict[int, list[float]] = {}
        inputs, outputs = Layout(spec.inputs, case.sizes), Layout(spec.outputs, case.sizes)
        # What the child cannot see: inputs wait here until the clock runs, and are compared with afterwards.
        self._own = torch.zeros(slots * inputs.stride, dtype=torch.uint8, device=oracle.device)
        self._inputs = CudaArena(inputs, slots)
        self._outputs = CudaArena(outputs, slots)
        self._poison = torch.empty(outputs.stride, dtype=torch.uint8, device=oracle.device)
        outputs.poison(self._poison, 0)
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
        self._order = list(order)
        what = f"Preparing a batch of calls in case {self.case.name}"
        try:
            answer = self._clock.request({"do": "arm", "slots": self._order}, self._call, "armed", what)
        except Died as error:
            raise self._dead(error) from None
        if answer["event"] == "error":
            raise self._failure(answer)

    def fill(self, slot: int, *seed: str | bytes) -> None:
        layout = self._inputs.layout
        for index, tensor in enumerate(self._spec.inputs):
            random = torch_inputs.generator(self._oracle.device, *seed, tensor.name)
            kind = self.case.fills.get(tensor.name, tensor.fill)
            place = layout.tensor(self._own, slot, index)
            torch_inputs.fill(place, tensor, self.case.sizes, kind, random)
        self._outputs.layout.poison(self._outputs.bytes, slot)

    def run(self) -> float:
        what = f"A batch of calls in case {self.case.name}"
        for slot in self._idle():
            self._outputs.slot(slot).copy_(self._poison)
        try:
            seconds, answer = self._clock.batch(self._bring, self._outputs.pages, self._call, what)
        except Died as error:
            raise self._dead(error) from None
        except LateWrite:
            text = f"Case {self.case.name}: outputs were still being written after the kernel had returned."
            raise Ended(Verdict.WRONG, text) from None
        if answer["event"] == "error":
            raise self._failure(answer)
        if not all(torch.equal(self._outputs.slot(slot), self._poison) for slot in self._idle()):
            text = f"Case {self.case.name}: outputs of calls that were not made were written."
            raise Ended(Verdict.WRONG, text)
        told = answer.get("event_seconds")
        if isinstance(told, (int, float)):
            self._events.setdefault(len(self._order), []).append(float(told))
        return seconds - self._bring_seconds

    def _bring(self) -> None:
        """Copies the inputs of every slot, those of the armed calls first and in their order.

        So each call finds its inputs as cold as the others do: all slots together overflow the cache.
        """
        stride = self._inputs.layout.stride
        for slot in [*self._order, *self._idle()]:
            self._inputs.slot(slot).copy_(self._own[slot * stride : (slot + 1) * stride])

    def _idle(self) -> list[int]:
        """The slots that no armed call uses: a batch that does the work of others ahead is seen there."""
        return [slot for slot in range(self.slots) if slot not in self._order]

    def check(self, slot: int) -> list[OutputError]:
        if self._timed:
            self.check_inputs(slot)
        layout = self._outputs.layout
        for index, output in enumerate(self._spec.outputs):
            if not bool((layout.padding(self._outputs.bytes, slot, index) == POISON).all()):
                raise CaseFailed(Verdict.WRONG, f"output {output.name}: memory behind its end was written")
        wanted = self._oracle(self._inputs.layout.slot_tensors(self._own, slot), self.case.sizes)
        return [
            compare(
                output.name,
                layout.tensor(self._outputs.bytes, slot, index),
                want,
                self._spec.tolerances[output.dtype],
            )
            for index, (output, want) in enumerate(zip(self._spec.outputs, wanted, strict=True))
        ]

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

    def event_seconds(self) -> float | None:
        """Seconds per call by the events that the child recorded: the slope of their medians over the
        batches.
        """
        if len(self._events) < 2:
            return None
        short, long = min(self._events), max(self._events)
        few, many = (float(np.median(self._events[length])) for length in (short, long))
        return (many - few) / (long - short)

    def close(self) -> None:
        self._inputs.close()
        self._outputs.close()
        del self._own, self._poison
        torch.cuda.empty_cache()  # the submission needs the room

    def _failure(self, answer: dict[str, Any]) -> CaseFailed | Ended:
        """What an error of the child's becomes. After an error of the device its context is lost."""
        kind, text = str(answer.get("kind")), str(answer.get("text", ""))[:2000]
        if kind == "device":
            return Ended(Verdict.RUNTIME_ERROR, f"Case {self.case.name}: {text}")
        return CaseFailed(VERDICTS.get(kind, Verdict.RUNTIME_ERROR), text)

    def _dead(self, error: Died) -> Ended:
        return death(error, self.case.name)
