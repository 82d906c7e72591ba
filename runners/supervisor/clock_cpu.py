"""The clock of the CPU device. The submission runs only while it ticks.

A batch, in order:

1. all processes of the submission are stopped
2. the caller fills secret inputs and poisons the outputs
3. "go" with a nonce is written, the clock starts, the processes continue
4. "done" is read, pages drawn at random are copied, the clock stops, the processes are stopped
5. the drawn pages are compared with what is there now
6. the caller looks at the outputs; before anything else is asked for, nothing must have run since

So nothing can be computed before the clock starts, nor be written after it stopped.
"""

import gc
import os
import secrets
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from runners.contract.vocabulary import Verdict
from runners.sandbox import process_tree
from runners.supervisor.arena import PAGE
from runners.supervisor.child import Child
from runners.supervisor.cores import Cores
from runners.supervisor.outcome import Ended, LateWrite

#: Pages copied within the clock after each batch; the amount is constant, so that it cancels in the slope.
_DRAWN_PAGES = 64
_RAN = "The submission ran while it was stopped: "


class CpuClock:
    """Stops and continues one child, and times what it does in between."""

    def __init__(self, child: Child, cores: Cores) -> None:
        self.child = child
        self._cores = cores
        # Since it was stopped: its processes and the time they had run. None while it may run.
        self._stopped: tuple[list[int], int] | None = None
        self.waited_seconds = 0.0  # for a core, in the last batch
        self._drawn = np.empty((_DRAWN_PAGES, PAGE), dtype=np.uint8)
        self._random = np.random.Generator(np.random.SFC64(int.from_bytes(os.urandom(16), "little")))

    def freeze(self) -> list[int]:
        """Stops the submission and takes its cores; the pids. Raises Died when nothing runs any more, and
        Ended where it ran since it was stopped: by then its inputs may have been written.
        """
        pids = self.child.freeze()
        self._cores.take_all()
        self._compare(pids)
        return pids

    def _compare(self, pids: list[int]) -> None:
        """Raises Ended where what is stopped is not what was stopped first, or ran since."""
        now = (pids, process_tree.run_nanoseconds(pids))
        before, self._stopped = self._stopped, now
        if before is None or now == before:
            return
        if now[0] != before[0]:
            what = f"it had {len(before[0])} processes, then others ({len(now[0])})"
        else:
            what = f"for {(now[1] - before[1]) / 1e6:.3g} ms"
        raise Ended(Verdict.RUNTIME_ERROR, f"{_RAN}{what}.")

    def request(
        self, message: dict[str, Any], limit: float, event: str, what: str, descriptors: Sequence[int] = ()
    ) -> dict[str, Any]:
        """Lets the child work on ``message``, untimed; its answer is ``event`` or an error."""
        self._cores.leave()
        self.child.send(message, descriptors)
        # What ran since the batch may have written outputs that were looked at meanwhile.
        self._compare(pids := self.child.freeze())
        self._stopped = None
        process_tree.thaw(pids)
        return self.child.expect(event, limit, what)

    def confirm(self) -> None:
        """Raises Ended, or Died, where what was stopped is not as it was left: outputs that were looked at
        since may have been written late.
        """
        if self._stopped is not None:
            self.freeze()

    def batch(self, outputs: npt.NDArray[np.uint8], limit: float, what: str) -> tuple[float, dict[str, Any]]:
        """Runs the armed calls; seconds, and the answer: ``done`` or an error.

        ``outputs`` are the pages of the output arena. Raises LateWrite, Died, and Ended.
        """
        nonce = secrets.token_hex(8)
        drawn = self._random.integers(0, len(outputs), size=_DRAWN_PAGES)
        pids = self.freeze()
        waited = process_tree.wait_nanoseconds(pids)
        self._cores.leave()
        gc.disable()
        try:
            self.child.send({"do": "go", "nonce": nonce})
            if not process_tree.all_still(pids):
                raise Ended(Verdict.RUNTIME_ERROR, f"{_RAN}it runs now.")
            self._compare(pids)
            self._stopped = None
            start = time.perf_counter()
            process_tree.thaw(pids)
            answer = self.child.expect("done", limit, what)
            np.take(outputs, drawn, axis=0, out=self._drawn)
            seconds = time.perf_counter() - start
        finally:
            gc.enable()
        waited = process_tree.wait_nanoseconds(self.freeze()) - waited
        self.waited_seconds = max(0.0, waited / 1e9)
        if answer["event"] == "done":
            if answer.get("nonce") != nonce:
                raise Ended(Verdict.RUNTIME_ERROR, "The process answered a batch that was not asked for.")
            if not np.array_equal(outputs[drawn], self._drawn):
                raise LateWrite
        return seconds, answer
