"""When to give up: the deadline of the whole evaluation, and a caller that has gone or cancelled."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from runners.contract.vocabulary import Verdict
from runners.supervisor.outcome import Ended


@dataclass(frozen=True)
class Stop:
    """Asked wherever the supervisor waits."""

    deadline: float  # time.monotonic()
    limit: float  # seconds the mode allows, for the message
    asked: Callable[[], bool] = lambda: False

    def check(self) -> None:
        """Raises Ended when the evaluation must not go on."""
        if self.asked():
            raise Ended(Verdict.CANCELLED, "The evaluation was cancelled.")
        if time.monotonic() > self.deadline:
            raise Ended(Verdict.TIMEOUT, f"The evaluation took longer than the {self.limit:g} s of its mode.")

    def left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())
