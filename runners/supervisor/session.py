"""The seam between the stages of an evaluation and the kind of device that they run on.

verify.py and timing.py know these two protocols only. The CPU's are in cpu_session.py.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import torch

from runners.contract.result import OutputError
from runners.contract.spec import Case
from runners.supervisor.departures import Departure


class OpenCase(Protocol):
    """One case being run. Slots are numbered from 0; each holds the inputs and outputs of one call."""

    slots: int
    #: Seconds that the submission's threads waited for a core in the last batch, summed.
    waited: float
    #: Seconds that the last batch took by the device's events, as the submission's process tells; else None.
    told: float | None

    def arm(self, order: Sequence[int]) -> None:
        """Lets the harness prepare one call on each slot of ``order``. Before ``fill``: the child runs
        meanwhile.
        """

    def keep(self, slots: int) -> None:
        """From now on ``slots`` of those that there were at first are enough: where batches fill and watch
        all of them, fewer cost less. The attribute says how many are in use.
        """

    def fill(self, slot: int, *seed: str | bytes) -> None:
        """Stops the submission, writes fresh inputs that depend on ``seed`` alone. Outputs are poisoned
        here or by ``run``.
        """

    def refill(self, order: Sequence[int]) -> None:
        """``fill`` with secret seeds for the slots of ``order`` at least, all of them different."""

    def draw(self, departure: Departure) -> torch.Tensor:
        """Values for ``depart``. Before ``arm``: the time between that and ``run`` must not tell of them."""

    def depart(self, slot: int, departure: Departure, values: torch.Tensor) -> None:
        """Changes one input of ``slot``, after ``refill`` and until the next; ``check`` knows of it."""

    def renew(self) -> None:
        """Lets the armed calls be made once more on the inputs as they are: their outputs are poisoned."""

    def run(self) -> float:
        """Makes the armed calls; the seconds by the supervisor's clock. Afterwards the submission is stopped.

        Raises CaseFailed for what the kernel did wrong and survived, Ended for the rest.
        """

    def check(self, slot: int) -> list[OutputError]:
        """Compares the outputs of ``slot`` with the reference, one entry per output."""

    def roughly_right(self, slot: int) -> bool:
        """Whether the outputs of ``slot`` are within twice the tolerance of a quick reference. False says
        nothing yet: ``check`` decides.
        """

    def check_inputs(self, slot: int) -> None:
        """Raises CaseFailed when the kernel changed an input. Free where inputs are mapped read-only."""

    def fingerprint(self, slot: int) -> bytes:
        """A digest of the output bytes of ``slot``."""

    def event_seconds(self, short: int, long: int) -> float | None:
        """Seconds per call by the device's events, recorded in the submission's process: evidence only.

        The slope between batches of ``short`` and of ``long`` calls; None when there were none of either.
        """

    def close(self) -> None:
        """Gives the memory back."""


class DeviceSession(Protocol):
    """One submission loaded on one device instance."""

    copies: bool  # the kernel returns tensors, which the harness copies into the slots

    def start(self, timed_cases: Sequence[Case]) -> None:
        """Waits until the child is up and measures the overheads of ``timed_cases``, before any
        submission.
        """

    def load(self, payload: bytes) -> None:
        """Delivers the submission. Raises Ended when it does not load."""

    def null_overhead(self, case: Case) -> float:
        """Seconds of a batch of ``case`` that does nothing, measured before the submission was loaded."""

    def quickest_null(self, case: Case) -> float:
        """The same of the quickest one, for what is compared with a quickest time."""

    def slots_for(self, case: Case) -> int:
        """How many slots of a benchmark case there may be: as many as fit in memory and are of use. On a CPU
        they overflow the last-level cache. On CUDA twice that cache stays in use (CudaCase.keep) where there
        are as many, and a write over the cache leaves every slot cold in any case.
        """

    def open(self, case: Case, slots: int, *, timed: bool) -> OpenCase:
        """Shares memory for ``case`` with the submission. ``timed`` cases have inputs that cannot be
        written.
        """

    def condition(self) -> dict[str, object]:
        """Clocks, temperature, throttling and other users of the device at this moment; empty where
        unknown.
        """

    def profile(self, case: Case) -> dict[str, Any]:
        """What a profiler inside the submission's own process says of one call of ``case`` (profiling.told);
        empty for compiled ones, which know no torch.
        """
