"""Claude as a forecaster: a prompt in, structured output back, everything else an abstention."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from surrogate.contract.answer import answer_schema, parse_answer
from surrogate.contract.forecast import Abstention, AbstentionReason, Forecast, Usage
from surrogate.contract.request import ForecastRequest
from surrogate.forecasters import prompt
from surrogate.llm.batch import ask_all
from surrogate.llm.client import Claude
from surrogate.llm.clock import Clock
from surrogate.llm.config import Config
from surrogate.llm.ledger import MemoryLedger, SpendLedger
from surrogate.llm.outcome import Answer, Failure, FailureKind
from surrogate.llm.request import Effort, Request, TextBlock

#: Room for the model's reasoning and the answer, which itself takes about 400 tokens.
MAX_TOKENS = 4096
#: A kernel or prompt of more bytes is not sent: beyond what a person would write, and no source may be shown
#: in part, which cutting its comments would do past this size.
MAX_PROMPT_BYTES = 200_000
#: US dollars for one process when nobody says otherwise.
DEFAULT_LIMIT = Decimal(5)

_REASONS = {
    FailureKind.OVER_BUDGET: AbstentionReason.OVER_BUDGET,
    FailureKind.SPEND_LIMIT: AbstentionReason.OVER_BUDGET,
    FailureKind.TOO_LARGE: AbstentionReason.TOO_LONG,
    FailureKind.CONTEXT_EXCEEDED: AbstentionReason.TOO_LONG,
    FailureKind.DEADLINE: AbstentionReason.TIMEOUT,
    FailureKind.STALLED: AbstentionReason.TIMEOUT,
    FailureKind.GATEWAY_TIMEOUT: AbstentionReason.TIMEOUT,
    FailureKind.CANCELLED: AbstentionReason.CANCELLED,
    FailureKind.REFUSED: AbstentionReason.DECLINED,
    FailureKind.TRUNCATED: AbstentionReason.TRUNCATED,
    FailureKind.MALFORMED: AbstentionReason.MALFORMED,
}


class AnthropicForecaster:
    """Forecasts by asking Claude. ``deadline`` is seconds for one forecast, retries included."""

    name = "anthropic"

    def __init__(
        self,
        config: Config,
        ledger: SpendLedger,
        *,
        effort: Effort | None = "low",
        deadline: float = 60.0,
        concurrency: int = 8,
        keep_comments: bool = False,
        should_stop: Callable[[], bool] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.config = config
        self.ledger = ledger
        self.effort = effort
        self.deadline = deadline
        self.concurrency = concurrency
        self.keep_comments = keep_comments
        self.should_stop = should_stop
        self.clock = clock

    @property
    def version(self) -> str:
        """Models in the order asked, wording and effort: what an answer depends on on our side."""
        comments = "+comments" if self.keep_comments else ""
        return f"{'>'.join(self.config.models)}/{self.effort or 'default'}/prompt-{prompt.VERSION}{comments}"

    def forecast(self, requests: Sequence[ForecastRequest]) -> list[Forecast | Abstention]:
        """One answer per request, in order. Blocks until all are there; not for use inside an event loop."""
        answers: dict[int, Forecast | Abstention] = {}
        asked: dict[int, Request] = {}
        for index, request in enumerate(requests):
            built = self._request(request)
            size = max(built.prompt_bytes, len(request.kernel.source.encode(errors="replace")))
            if size > MAX_PROMPT_BYTES:
                message = f"Prompt or kernel has {size} bytes, more than {MAX_PROMPT_BYTES}."
                answers[index] = self._abstain(AbstentionReason.TOO_LONG, message)
            else:
                asked[index] = built
        # A client per call: its connections belong to the event loop that this call runs.
        outcomes = ask_all(
            Claude(self.config, self.ledger, clock=self.clock),
            list(asked.values()),
            deadline=self.deadline,
            concurrency=self.concurrency,
            should_stop=self.should_stop,
        )
        for index, outcome in zip(asked, outcomes, strict=True):
            answers[index] = self._answer(outcome)
        return [answers[index] for index in range(len(requests))]

    def _request(self, request: ForecastRequest) -> Request:
        parts = prompt.build(request, keep_comments=self.keep_comments)
        return Request(
            # The rules serve every task for an hour, the task part every kernel tried on it meanwhile.
            system=(TextBlock(parts.rules, cache="1h"),),
            user=(TextBlock(parts.task, cache="5m"), TextBlock(parts.kernel)),
            max_tokens=MAX_TOKENS,
            schema=answer_schema(),
            effort=self.effort,
            purpose=f"forecast {request.task.slug} on {request.device.slug}",
        )

    def _answer(self, outcome: Answer | Failure) -> Forecast | Abstention:
        usage = _usage(outcome)
        if isinstance(outcome, Answer):
            return parse_answer(outcome.text, forecaster=self.name, version=self.version, usage=usage)
        reason = _REASONS.get(outcome.kind, AbstentionReason.UNAVAILABLE)
        return replace(self._abstain(reason, f"{_capitalised(outcome.message)}."), usage=usage)

    def _abstain(self, reason: AbstentionReason, message: str) -> Abstention:
        return Abstention(reason, message, self.name, self.version)


def _usage(outcome: Answer | Failure) -> Usage:
    tokens = outcome.usage
    return Usage(
        latency_seconds=outcome.seconds,
        input_tokens=tokens.input,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write_5m + tokens.cache_write_1h,
        output_tokens=tokens.output,
        cost_usd=float(outcome.cost),
    )


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".")


def build(environ: Mapping[str, str] = os.environ) -> AnthropicForecaster:
    """With a ledger of its own, for command lines; KERNELHUB_CLAUDE_LIMIT_USD changes its limit."""
    text = environ.get("KERNELHUB_CLAUDE_LIMIT_USD", "").strip()
    try:
        limit = Decimal(text) if text else DEFAULT_LIMIT
    except InvalidOperation:
        raise ValueError(f"KERNELHUB_CLAUDE_LIMIT_USD: {text!r} is not an amount of US dollars") from None
    return AnthropicForecaster(Config.from_environment(environ), MemoryLedger(limit))
