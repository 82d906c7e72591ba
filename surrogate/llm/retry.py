"""What to do after a failed attempt: the same again after a wait, another model, or stop. Pure."""

from dataclasses import dataclass
from enum import StrEnum
from random import Random

from surrogate.llm.errors import Problem
from surrogate.llm.outcome import FailureKind

#: Tries per model and kind, the first included. Lost calls cost money each time, so they get few.
TRIES: dict[FailureKind, int] = {
    FailureKind.RATE_LIMITED: 6,
    FailureKind.OVERLOADED: 2,
    FailureKind.SERVER_ERROR: 3,
    FailureKind.GATEWAY_TIMEOUT: 2,
    FailureKind.CONNECTION: 3,
    FailureKind.STALLED: 2,
    FailureKind.BROKEN_STREAM: 2,
}
#: Kinds that another model may not suffer from: capacity and limits are per model.
OTHER_MODEL = frozenset(
    {
        FailureKind.RATE_LIMITED,
        FailureKind.OVERLOADED,
        FailureKind.SERVER_ERROR,
        FailureKind.GATEWAY_TIMEOUT,
        FailureKind.STALLED,
        FailureKind.UNKNOWN_MODEL,
        FailureKind.UNKNOWN_PRICE,
    }
)
FIRST_WAIT = 0.5  # seconds
LONGEST_WAIT = 8.0  # of our own; the API may ask for more


class Step(StrEnum):
    RETRY = "retry"
    OTHER_MODEL = "other_model"
    STOP = "stop"


@dataclass(frozen=True)
class Decision:
    step: Step
    wait: float = 0.0  # seconds before it
    reason: str = ""  # what to add to the failure's message, when there is something to say


def decide(problem: Problem, *, tries: int, remaining: float, other_models: bool, random: Random) -> Decision:
    """``tries`` counts this model's attempts that failed this way; ``remaining`` is seconds to the deadline.

    A spend limit is never retried, whatever the response's headers say. A wait that reaches past the deadline
    is not begun.
    """
    elsewhere = Decision(Step.OTHER_MODEL)
    if problem.kind not in OTHER_MODEL or not other_models:
        elsewhere = Decision(Step.STOP)
    allowed = TRIES.get(problem.kind, 1)
    if problem.may_retry is False or problem.kind == FailureKind.SPEND_LIMIT or tries >= allowed:
        return elsewhere
    wait = _wait(problem, tries, random)
    if wait >= remaining:
        return Decision(
            elsewhere.step,
            reason=f"the wait of {wait:.1f} s reaches past the {max(0.0, remaining):.1f} s left",
        )
    return Decision(Step.RETRY, wait)


def _wait(problem: Problem, tries: int, random: Random) -> float:
    """At least what the API asks; jitter keeps many clients from coming back in the same instant."""
    if problem.retry_after is not None:
        return problem.retry_after * (1 + 0.1 * random.random())
    return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(tries - 1, 10)) * (0.5 + 0.5 * random.random())
