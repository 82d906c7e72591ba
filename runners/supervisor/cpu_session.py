"""A submission on the CPU: frozen whenever the supervisor works, thawed only while the clock runs.

A batch: freeze all processes of the submission → fill secret inputs and poison outputs → write "go" with a nonce →
start the clock → thaw → read "done" → copy pages drawn at random → stop the clock → freeze → compare the drawn
pages with what is there now. So nothing can be computed before the clock starts, nor be written after it stopped.
"""

import gc
import hashlib
import os
import secrets
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from runners.contract.job import DeviceTarget
from runners.contract.limits import ModeLimits
from runners.contract.result import OutputError
from runners.contract.spec import Case, TaskSpec
from runners.contract.vocabulary import Verdict
from runners.sandbox import process_tree
from runners.supervisor import inputs
from runners.supervisor.arena import PAGE, Arena
from runners.supervisor.child import Child, Died
from runners.supervisor.compare import compare
from runners.supervisor.oracle import Oracle
from runners.supervisor.outcome import CaseFailed, Ended

#: Pages copied within the clock after each batch; the amount is constant, so that it cancels in the slope.
_DRAWN_PAGES = 64
_START_SECONDS = 60.0  # importing torch on a cold disk
_LOAD_SECONDS = 60.0  # import of a submission may build extensions
_SLOT_MEMORY = 2**30  # bytes of all slots of a case together
_MOST_SLOTS = 64
_NULL_BATCHES = 15
_DOING = {"load": "Loading the submission", "case": "Preparing a case", "arm": "Preparing a batch of calls"}
_VERDICTS = {
    "contract": Verdict.WRONG,
    "entry_point": Verdict.COMPILE_ERROR,
    "resource": Verdict.RESOURCE_LIMIT,
}


class CpuSession:
    """Implements DeviceSession on a child that was started a moment ago."""

    def __init__(
        self,
        spec: TaskSpec,
        target: DeviceTarget,
        limits: ModeLimits,
        *,
        child: Child,
        kind: str,
    ) -> None:
        self.spec = spec
        self.limits = limits
        self.oracle = Oracle(spec)
        self.copies = False
        self._target = target
        self._kind = kind
        self._null: list[float] = []
        self._copy: dict[str, float] = {}
        self.cores = _Cores(target.cores)
        self.child = child

    def start(self, timed_cases: Sequence[Case]) -> None:
        """Waits until the child is up, then measures what an empty batch and a copy of outputs cost."""
        try:
            self.child.expect("ready", _START_SECONDS, "Starting the sandbox")
        except Died as error:
            out = self.child.output()[1].strip().rpartition("\n")[2]
            raise Ended(Verdict.INTERNAL_ERROR, f"The sandbox {error}: {out[:300]}") from None
        for case in timed_cases:
            self._measure_overheads(case)

    def _measure_overheads(self, case: Case) -> None:
        for kind in ("nothing", *(("copy",) if self._kind == "python" else ())):
            self.ask({"do": "load", "kind": kind}, _START_SECONDS, "ready")
            slots = self.slots_for(case) if kind == "copy" else 1
            opened = self.open(case, slots, timed=True)
            try:
                times: dict[int, list[float]] = {1: [], slots: []}
                for batch in range(2 * _NULL_BATCHES):
                    length = slots if batch % 2 else 1
                    opened.arm(range(length))
                    times[length].append(opened.run())
            finally:
                opened.close()
            if kind == "nothing":
                self._null += times[1]
            elif slots > 1:
                slope = (np.median(times[slots]) - np.median(times[1])) / (slots - 1)
                self._copy[case.name] = max(0.0, float(slope))

    def load(self, payload: bytes) -> None:
        """Delivers the submission. Raises Ended when it does not load."""
        descriptor = os.memfd_create("submission", os.MFD_CLOEXEC)
        try:
            with os.fdopen(os.dup(descriptor), "wb") as stream:
                stream.write(payload)
            os.lseek(descriptor, 0, os.SEEK_SET)
            try:
                answer = self._request(
                    {"do": "load", "kind": self._kind}, _LOAD_SECONDS, "ready", [descriptor]
                )
            except Died as error:
                raise Ended(Verdict.RUNTIME_ERROR, f"The submission {error} while it was loaded.") from None
        finally:
            os.close(descriptor)
        if answer["event"] == "error":
            text = str(answer.get("text", ""))[:2000]
            kind = answer.get("kind")
            if kind == "contract":  # not an output yet: the entry point is missing
                raise Ended(Verdict.RUNTIME_ERROR, text)
            raise Ended(_VERDICTS.get(str(kind), Verdict.RUNTIME_ERROR), f"Loading failed: {text}")
        self.copies = bool(answer.get("copies"))

    def null_overhead(self) -> float:
        return float(np.median(self._null)) if self._null else 0.0

    def copy_seconds(self, case: Case) -> float:
        return self._copy.get(case.name, 0.0) if self.copies else 0.0

    def slots_for(self, case: Case) -> int:
        per_slot = sum(tensor.nbytes(case.sizes) for tensor in (*self.spec.inputs, *self.spec.outputs))
        cache = int(self._target.facts.get("llc_bytes") or 32 * 2**20)
        wanted = max(4, -(-2 * cache // per_slot))
        return max(2, min(wanted, _MOST_SLOTS, _SLOT_MEMORY // per_slot))

    def open(self, case: Case, slots: int, *, timed: bool) -> "CpuCase":
        return CpuCase(self, case, slots, timed=timed)

    def profile(self, case: Case) -> dict[str, object]:
        opened = self.open(case, 2, timed=True)
        try:
            opened.arm([0])
            opened.fill(0, secrets.token_bytes(16))
            opened.run()
            opened.arm([1])
            opened.fill(1, secrets.token_bytes(16))
            self.child.send({"do": "profile"})
            process_tree.thaw(self.freeze())
            answer = self.child.expect("profile", self.limits.call, "Profiling")
        except Died as error:
            raise Ended(Verdict.RUNTIME_ERROR, f"The submission {error} under the profiler.") from None
        finally:
            opened.close()
        if answer["event"] == "error":
            raise Ended(Verdict.RUNTIME_ERROR, str(answer.get("text", ""))[:2000])
        return {"kind": "torch", "table": str(answer.get("table", ""))[:40_000]}

    def output(self) -> tuple[str, str, bool]:
        out, err = self.child.output()
        return out, err, self.child.truncated

    def close(self) -> None:
        self.child.close()

    def freeze(self) -> list[int]:
        pids = self.child.freeze()
        self.cores.take_all()
        return pids

    def ask(self, message: dict[str, Any], limit: float, event: str, descriptors: Sequence[int] = ()) -> None:
        """Lets the child work on a request. Raises Died, and Ended for any answer but ``event``."""
        answer = self._request(message, limit, event, descriptors)
        if answer["event"] == "error":
            raise Ended(Verdict.RUNTIME_ERROR, str(answer.get("text", ""))[:2000])

    def _request(
        self, message: dict[str, Any], limit: float, event: str, descriptors: Sequence[int]
    ) -> dict[str, Any]:
        self.cores.leave()
        self.child.send(message, descriptors)
        process_tree.thaw(self.child.freeze())
        return self.child.expect(event, limit, _DOING[message["do"]])


class CpuCase:
    """Implements OpenCase."""

    def __init__(self, session: CpuSession, case: Case, slots: int, *, timed: bool) -> None:
        self.case = case
        self.slots = slots
        self._session = session
        self._child = session.child
        spec = session.spec
        self._inputs = Arena(spec.inputs, case.sizes, slots, child_writes=not timed)
        self.outputs = Arena(spec.outputs, case.sizes, slots, child_writes=True)
        self._writable = not timed
        self._kept: dict[int, list[torch.Tensor]] = {}
        self._drawn = np.empty((_DRAWN_PAGES, PAGE), dtype=np.uint8)
        self._random = np.random.Generator(np.random.SFC64(int.from_bytes(os.urandom(16), "little")))
        message = {
            "do": "case",
            "input_arena": self._inputs.describe(),
            "output_arena": self.outputs.describe(),
            "inputs_writable": self._writable,
            "inputs": self._inputs.describe_tensors(),
            "outputs": self.outputs.describe_tensors(),
            "sizes": [case.sizes[name] for name in spec.sizes],
        }
        try:
            session.ask(message, 30, "ready", [self._inputs.fd, self.outputs.fd])
        except Died as error:
            self.close()
            raise Ended(Verdict.RUNTIME_ERROR, f"The submission {error} between two cases.") from None

    def fill(self, slot: int, *seed: str | bytes) -> None:
        self._session.freeze()
        for index, tensor in enumerate(self._session.spec.inputs):
            random = inputs.generator(*seed, tensor.name)
            kind = self.case.fills.get(tensor.name, tensor.fill)
            inputs.fill(self._inputs.raw(slot, index), tensor, self.case.sizes, kind, random)
        if self._writable:
            self._kept[slot] = [item.clone() for item in self._slot_inputs(slot)]
        self.outputs.poison(slot)

    def arm(self, order: Sequence[int]) -> None:
        try:
            self._session.ask({"do": "arm", "slots": list(order)}, self._session.limits.call, "armed")
        except Died as error:
            raise Ended(_verdict_of_death(str(error)), self._sentence(error)) from None

    def run(self) -> float:
        try:
            return self._run()
        except Died as error:
            raise Ended(_verdict_of_death(str(error)), self._sentence(error)) from None

    def _run(self) -> float:
        limit = self._session.limits.call
        nonce = secrets.token_hex(8)
        pages = self.outputs.pages
        drawn = self._random.integers(0, len(pages), size=_DRAWN_PAGES)
        pids = self._session.freeze()
        before = process_tree.run_nanoseconds(pids)
        self._session.cores.leave()
        gc.disable()
        try:
            self._child.send({"do": "go", "nonce": nonce})
            if not process_tree.all_still(pids) or process_tree.run_nanoseconds(pids) != before:
                raise Ended(Verdict.RUNTIME_ERROR, "The submission ran while it was stopped.")
            start = time.perf_counter()
            process_tree.thaw(pids)
            answer = self._child.expect("done", limit, f"A batch of calls in case {self.case.name}")
            np.take(pages, drawn, axis=0, out=self._drawn)
            seconds = time.perf_counter() - start
        finally:
            gc.enable()
        self._session.freeze()
        if answer["event"] == "error":
            kind = str(answer.get("kind"))
            text = str(answer.get("text", ""))[:2000]
            raise CaseFailed(_VERDICTS.get(kind, Verdict.RUNTIME_ERROR), text)
        if answer.get("nonce") != nonce:
            raise Ended(Verdict.RUNTIME_ERROR, "The process answered a batch that was not asked for.")
        if not np.array_equal(pages[drawn], self._drawn):
            raise Ended(
                Verdict.WRONG,
                f"Case {self.case.name}: outputs were still being written after the kernel had returned.",
            )
        return seconds

    def check(self, slot: int) -> list[OutputError]:
        spec = self._session.spec
        given = self._kept.get(slot) or self._slot_inputs(slot)
        wanted = self._session.oracle(given, self.case.sizes)
        return [
            compare(output.name, self.outputs.tensor(slot, index), want, spec.tolerances[output.dtype])
            for index, (output, want) in enumerate(zip(spec.outputs, wanted, strict=True))
        ]

    def check_inputs(self, slot: int) -> None:
        for tensor, kept, now in zip(
            self._session.spec.inputs, self._kept.get(slot, []), self._slot_inputs(slot), strict=False
        ):
            if not torch.equal(kept.view(torch.uint8), now.view(torch.uint8)):
                raise CaseFailed(
                    Verdict.WRONG, f"input {tensor.name} was changed; inputs must be left as they are"
                )

    def fingerprint(self, slot: int) -> bytes:
        digest = hashlib.blake2b(digest_size=16)
        for index in range(len(self.outputs.tensors)):
            digest.update(self.outputs.raw(slot, index))
        return digest.digest()

    def close(self) -> None:
        self._kept.clear()
        self._inputs.close()
        self.outputs.close()

    def _sentence(self, error: Died) -> str:
        read_only = not self._writable and "SIGSEGV" in str(error)
        hint = " (inputs are read-only while a kernel is timed)" if read_only else ""
        return f"The submission {error} in case {self.case.name}{hint}."

    def _slot_inputs(self, slot: int) -> list[torch.Tensor]:
        return [self._inputs.tensor(slot, index) for index in range(len(self._inputs.tensors))]


class _Cores:
    """Keeps the supervisor off the child's cores while the child runs; while it is frozen all are ours."""

    def __init__(self, theirs: Sequence[int]) -> None:
        self._all = os.sched_getaffinity(0)
        # On a machine whose only cores are the child's, they are shared.
        self._ours = (self._all - set(theirs)) or self._all
        torch.set_num_threads(len(self._all))

    def take_all(self) -> None:
        os.sched_setaffinity(0, self._all)

    def leave(self) -> None:
        os.sched_setaffinity(0, self._ours)


def _verdict_of_death(text: str) -> Verdict:
    """A limit enforced by the kernel kills with a signal of its own."""
    limits = ("SIGXCPU", "SIGXFSZ", "SIGKILL")  # SIGKILL: out of memory
    return Verdict.RESOURCE_LIMIT if any(name in text for name in limits) else Verdict.RUNTIME_ERROR
