"""When to stop asking: a provider that fails again and again must not burn the budget. Pure."""

from dataclasses import dataclass

from surrogate.llm.outcome import Failure, FailureKind

#: Failed calls in a row, each after the client's own retries, that pause a run.
MOST_IN_A_ROW = 3
#: The provider's trouble of the moment: worth another try later.
_PASSING = frozenset(
    {
        FailureKind.RATE_LIMITED,
        FailureKind.OVERLOADED,
        FailureKind.SERVER_ERROR,
        FailureKind.GATEWAY_TIMEOUT,
        FailureKind.CONNECTION,
        FailureKind.STALLED,
        FailureKind.BROKEN_STREAM,
        FailureKind.DEADLINE,
        FailureKind.CANCELLED,  # by the end of the process that asked
    }
)
#: Nothing that another call would cure: key, account or configuration.
_LASTING = frozenset(
    {
        FailureKind.NO_KEY,
        FailureKind.UNKNOWN_PRICE,
        FailureKind.SPEND_LIMIT,
        FailureKind.UNAUTHORISED,
        FailureKind.FORBIDDEN,
        FailureKind.UNKNOWN_MODEL,
        FailureKind.BAD_REQUEST,
    }
)


def is_passing(kind: FailureKind) -> bool:
    """Whether the call may be made again: its failure says nothing of what was asked."""
    return kind in _PASSING


@dataclass
class Breaker:
    """Of one sitting: a run that is resumed by a person starts with a whole one."""

    in_a_row: int = 0

    def heard(self, failure: Failure | None) -> str:
        """Take in how a call went, None for an answer; why to pause, empty while there is no reason."""
        if failure is None or (failure.kind not in _PASSING and failure.kind not in _LASTING):
            self.in_a_row = 0  # whatever it said, somebody answered
            return ""
        if failure.kind in _LASTING:
            return f"The language model can't be asked: {failure.message}."
        self.in_a_row += 1
        if self.in_a_row < MOST_IN_A_ROW:
            return ""
        return (
            f"{self.in_a_row} calls of the language model failed one after the other, "
            f"the last one: {failure.message}."
        )
