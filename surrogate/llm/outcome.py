"""What comes of asking Claude: an Answer, or a Failure of one of a few kinds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any

from surrogate.llm.usage import TokenUsage


class FailureKind(StrEnum):
    # Nothing was sent
    NO_KEY = "no_key"
    UNKNOWN_PRICE = "unknown_price"
    OVER_BUDGET = "over_budget"  # our own limit
    # The API said no
    RATE_LIMITED = "rate_limited"  # 429 that waiting cures: rate or ramp limit
    SPEND_LIMIT = (
        "spend_limit"  # the account's limit, its contract's or its owner's: waiting does not cure it
    )
    UNAUTHORISED = "unauthorised"  # 401
    FORBIDDEN = "forbidden"  # 403
    UNKNOWN_MODEL = "unknown_model"  # 404
    TOO_LARGE = "too_large"  # 413
    BAD_REQUEST = "bad_request"  # other 4xx
    SERVER_ERROR = "server_error"  # 5xx and 409
    OVERLOADED = "overloaded"  # 529
    GATEWAY_TIMEOUT = "gateway_timeout"  # 408, 504
    # The call was lost on the way
    CONNECTION = "connection"  # no response
    STALLED = "stalled"  # nothing came for too long
    BROKEN_STREAM = "broken_stream"  # ended or turned to nonsense after it had begun
    DEADLINE = "deadline"
    CANCELLED = "cancelled"
    # The model answered, but not with what was asked
    REFUSED = "refused"
    TRUNCATED = "truncated"  # max_tokens; half an answer is no answer
    CONTEXT_EXCEEDED = "context_exceeded"
    PAUSED = "paused"  # still paused after as many continuations as we allow
    MALFORMED = "malformed"  # no JSON object where one was asked for


#: Whether the model did or may have done work that is billed although no usage was reported.
LOST = frozenset(
    {
        FailureKind.CONNECTION,
        FailureKind.STALLED,
        FailureKind.BROKEN_STREAM,
        FailureKind.GATEWAY_TIMEOUT,
        FailureKind.DEADLINE,
        FailureKind.CANCELLED,
    }
)


@dataclass(frozen=True)
class Attempt:
    """One HTTP request, for the record."""

    model: str
    result: str  # a FailureKind, or the stop reason
    request_id: str | None
    usage: TokenUsage
    cost: Decimal  # US dollars booked, an upper bound where the call was lost
    seconds: float
    error_code: str | None = None
    is_lost: bool = False  # billed as far as we know, beyond ``usage``: ``cost`` is the bound


@dataclass(frozen=True)
class ToolCall:
    id: str
    name: str
    input: Mapping[str, Any]


@dataclass(frozen=True)
class _Outcome:
    attempts: tuple[Attempt, ...] = field(kw_only=True, default=())
    seconds: float = field(kw_only=True, default=0.0)  # waiting between attempts included

    @property
    def usage(self) -> TokenUsage:
        return sum((attempt.usage for attempt in self.attempts), TokenUsage())

    @property
    def cost(self) -> Decimal:
        """US dollars, failed attempts included."""
        return sum((attempt.cost for attempt in self.attempts), Decimal(0))

    @property
    def request_id(self) -> str | None:
        """Of the last attempt: what the vendor's support asks for."""
        return self.attempts[-1].request_id if self.attempts else None


@dataclass(frozen=True)
class Answer(_Outcome):
    """A complete answer. ``data`` is the JSON object where a schema was given, else None."""

    text: str
    model: str  # the model that answered, which a fallback may have changed
    stop_reason: str
    data: Mapping[str, Any] | None = None
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True)
class Failure(_Outcome):
    """No answer. ``message`` is one sentence; ``partial`` what the model had said, for logs only."""

    kind: FailureKind
    message: str
    error_code: str | None = None
    refusal_category: str | None = None
    retry_after: float | None = None  # seconds, as the API asked
    partial: str = ""
