"""The clock of a CUDA device. Secret inputs reach the submission only after it has started.

A batch: the caller has written fresh inputs into memory of the supervisor's own and poisoned the shared
outputs; the clock starts; the inputs of all slots in use (CudaCase.keep) are copied into shared memory,
however few calls follow, and pushed out of the cache; "go" with a nonce is sent; the child makes its calls
and waits for the device; "done" is read; pages drawn at random from the armed slots are copied; the clock
stops. The drawn pages are compared with what is there at once, and again after the outputs were verified:
else work that goes on after "done" would be seen only if it ended in the microseconds between. Work that was
queued on the device before has no inputs to work on, and work that goes on after "done" is missing from the
pages that were copied.

What a batch costs beyond its calls (copies, messages) is the same for every number of calls, so that it
cancels in the slope.
"""

import gc
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from runners.contract.vocabulary import Verdict
from runners.supervisor.child import Child
from runners.supervisor.cores import Cores
from runners.supervisor.cuda_arena import PAGE
from runners.supervisor.drawn_pages import DrawnPages
from runners.supervisor.outcome import Ended

#: Pages copied within the clock after each batch.
_DRAWN_PAGES = 64
_CACHES = 2  # times the cache is written over


class CudaClock:
    """Times what one child does. Implements child_session.Clock."""

    def __init__(self, child: Child, cores: Cores, device: str, cache: int) -> None:
        """``cache`` is the size of the device's last-level cache, bytes."""
        self.child = child
        self.drawn = DrawnPages(_DRAWN_PAGES, PAGE, device)
        self._scratch = torch.empty(_CACHES * cache, dtype=torch.uint8, device=device)
        self.bring_seconds = 0.0  # what the last batch spent on bringing its inputs
        cores.leave()

    def flush_cache(self) -> None:
        """Fills the last-level cache with memory that no call uses."""
        self._scratch.zero_()

    def request(
        self, message: dict[str, Any], limit: float, event: str, what: str, descriptors: Sequence[int] = ()
    ) -> dict[str, Any]:
        """Lets the child work on ``message``, untimed; its answer is ``event`` or an error."""
        self.child.send(message, descriptors)
        return self.child.expect(event, limit, what)

    def batch(
        self, bring: Callable[[], None], outputs: torch.Tensor, limit: float, what: str
    ) -> tuple[float, dict[str, Any]]:
        """Runs the armed calls; seconds, and the answer: ``done`` or an error.

        ``bring`` copies the inputs into shared memory. ``outputs`` are the pages of the shared outputs; those
        to copy have been drawn by ``drawn.draw``. Raises LateWrite, Died, and Ended.
        """
        nonce = secrets.token_hex(8)
        torch.cuda.synchronize()
        gc.disable()
        try:
            start = time.perf_counter()
            bring()
            torch.cuda.synchronize()
            brought = time.perf_counter()
            self.child.send({"do": "go", "nonce": nonce})
            answer = self.child.expect("done", limit, what)
            self.drawn.copy(outputs)
            torch.cuda.synchronize()
            seconds = time.perf_counter() - start
        finally:
            gc.enable()
        self.bring_seconds = brought - start
        if answer["event"] == "done":
            if answer.get("nonce") != nonce:
                raise Ended(Verdict.RUNTIME_ERROR, "The process answered a batch that was not asked for.")
            self.drawn.confirm(outputs)
        return seconds, answer
