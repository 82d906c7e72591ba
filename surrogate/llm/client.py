"""The Claude client: one question in, one Answer or Failure out, whatever happens on the way."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from random import Random
from types import TracebackType
from typing import Any, Self

import anthropic
import httpx2

from surrogate.llm.clock import Clock, SystemClock
from surrogate.llm.config import NO_KEY, Config
from surrogate.llm.errors import Problem, classify
from surrogate.llm.ledger import OverBudget, Reservation, SpendLedger
from surrogate.llm.outcome import LOST, Answer, Attempt, Failure, FailureKind
from surrogate.llm.prices import UnknownPrice, price_of, upper_bound
from surrogate.llm.reading import read_message
from surrogate.llm.request import Request
from surrogate.llm.retry import Step, decide
from surrogate.llm.stream import Transcript, read

logger = logging.getLogger(__name__)

OnText = Callable[[str], None]


@dataclass
class _Call:
    """The state of one ``ask``."""

    request: Request
    started: float
    deadline: float  # on the client's clock
    on_text: OnText | None
    attempts: list[Attempt] = field(default_factory=list)
    continued: list[Any] = field(default_factory=list)  # contents of paused turns, oldest first


class Claude:
    """Asks Claude over the vendor's SDK; use it as an async context manager.

    Answers are always streamed, so that silence is noticed and no length limit of plain requests applies. The
    SDK's own retries are off: they sleep as long as the server says and retry spend limits.
    """

    def __init__(
        self, config: Config, ledger: SpendLedger, *, clock: Clock | None = None, random: Random | None = None
    ) -> None:
        self.config = config
        self.ledger = ledger
        self.clock = clock or SystemClock()
        self.random = random or Random()  # noqa: S311 - jitter
        self._sdk: anthropic.AsyncAnthropic | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._sdk is not None:
            await self._sdk.close()
            self._sdk = None

    async def ask(
        self, request: Request, *, deadline: float, on_text: OnText | None = None
    ) -> Answer | Failure:
        """The answer to ``request``, or why there is none after at most ``deadline`` seconds.

        ``on_text`` gets the whole text so far whenever it grows; a retry begins anew. Cancelling the task
        stops waiting and reading at once, books what the call may have cost and raises CancelledError.
        """
        if not self.config.has_key:
            return Failure(FailureKind.NO_KEY, NO_KEY)
        now = self.clock.now()
        call = _Call(request, now, now + deadline, on_text)
        outcome: Answer | Failure = Failure(FailureKind.UNKNOWN_MODEL, "no model is configured")
        for index, model in enumerate(self.config.models):
            outcome, step = await self._ask_model(call, model, index + 1 < len(self.config.models))
            if step != Step.OTHER_MODEL:
                break
        return replace(
            outcome, attempts=tuple(call.attempts), seconds=max(0.0, self.clock.now() - call.started)
        )

    async def _ask_model(self, call: _Call, model: str, other_models: bool) -> tuple[Answer | Failure, Step]:
        """Attempts on one model until there is an outcome, and whether another model should be asked."""
        failed: dict[FailureKind, int] = {}
        call.continued.clear()  # thinking blocks are bound to the model that wrote them
        while True:
            result = await self._attempt(call, model)
            if isinstance(result, Answer | Failure):
                if not isinstance(result, Failure) or result.kind != FailureKind.PAUSED:
                    return result, Step.STOP
                if len(call.continued) > self.config.max_continuations:
                    return result, Step.STOP
                continue
            tries = failed[result.kind] = failed.get(result.kind, 0) + 1
            decision = decide(
                result,
                tries=tries,
                remaining=call.deadline - self.clock.now(),
                other_models=other_models,
                random=self.random,
            )
            if decision.step != Step.RETRY:
                message = f"{result.message}; {decision.reason}" if decision.reason else result.message
                return _failure(result, message), decision.step
            logger.info("claude: %s; trying again in %.1f s", result.kind, decision.wait)
            await self.clock.sleep(decision.wait)

    async def _attempt(self, call: _Call, model: str) -> Answer | Failure | Problem:
        """Reserve, send, read, settle: one HTTP request and exactly one settlement of its reservation."""
        remaining = call.deadline - self.clock.now()
        if remaining <= 0:
            return Problem(FailureKind.DEADLINE, "the deadline passed before an answer")
        prompt_bytes = call.request.prompt_bytes + sum(len(str(content)) for content in call.continued)
        try:
            bound = upper_bound(model, prompt_bytes, call.request.max_tokens)
            reservation = await self._reserve(bound, call.request.purpose)
        except UnknownPrice as error:
            return Problem(FailureKind.UNKNOWN_PRICE, str(error))
        except OverBudget as error:
            return Problem(FailureKind.OVER_BUDGET, str(error))
        begun = self.clock.now()
        transcript = Transcript()
        spent = bound  # until we know better: whoever leaves early books the whole reservation
        result: Answer | Failure | Problem = Problem(FailureKind.CANCELLED, "the call was cancelled")
        try:
            result = await self._send(call, model, transcript, remaining)
            spent = _spent(result, model, transcript, bound)
        finally:
            call.attempts.append(_record(result, model, transcript, spent, self.clock.now() - begun))
            _log(call.attempts[-1], call.request.purpose)
            # Shielded, so that a cancelled call still gives its reservation back.
            await asyncio.shield(self.ledger.settle(reservation, spent))
        return result

    async def _reserve(self, amount: Decimal, purpose: str) -> Reservation:
        """A ledger in a thread goes on reserving when its caller is cancelled. What nobody then held would be
        booked whole once it expired, though nothing was sent; so it is waited for and given back."""
        reserving = asyncio.ensure_future(self.ledger.reserve(amount, purpose=purpose))
        try:
            return await asyncio.shield(reserving)
        except asyncio.CancelledError:
            with contextlib.suppress(OverBudget):
                await self.ledger.settle(await reserving, Decimal(0))
            raise

    async def _send(
        self, call: _Call, model: str, transcript: Transcript, remaining: float
    ) -> Answer | Failure | Problem:
        try:
            async with asyncio.timeout(remaining):
                await read(
                    self._client(),
                    call.request.parameters(model, call.continued),
                    transcript,
                    first_byte_seconds=self.config.first_byte_seconds,
                    stall_seconds=self.config.stall_seconds,
                    on_text=call.on_text,
                )
        except TimeoutError:
            return Problem(FailureKind.DEADLINE, "the deadline passed before the answer was complete")
        except Exception as error:  # noqa: BLE001 - classify raises again what it does not know
            return classify(error)
        message = transcript.message
        if message is None:
            return Problem(FailureKind.BROKEN_STREAM, "the answer is empty")
        if message.stop_reason == "pause_turn":
            call.continued.append(message.to_param()["content"])
        return read_message(message, wants_json=call.request.schema is not None)

    def _client(self) -> anthropic.AsyncAnthropic:
        """Made on first use, because its connections belong to the running event loop."""
        if self._sdk is None:
            self._sdk = anthropic.AsyncAnthropic(
                api_key=self.config.api_key or None,
                auth_token=self.config.auth_token or None,
                base_url=self.config.base_url,
                max_retries=0,
                # Silence is bounded in ``read``, where pings do not count as a sign of life.
                timeout=httpx2.Timeout(None, connect=self.config.connect_seconds),
            )
        return self._sdk


def _spent(result: Answer | Failure | Problem, model: str, transcript: Transcript, bound: Decimal) -> Decimal:
    if isinstance(result, Problem):
        lost = transcript.started or (result.kind in LOST and result.sent)
        return bound if lost else Decimal(0)
    answered_by = transcript.message.model if transcript.message is not None else model
    try:
        return price_of(answered_by).cost(transcript.usage)
    except UnknownPrice:
        return price_of(model).cost(transcript.usage)


def _record(
    result: Answer | Failure | Problem, model: str, transcript: Transcript, spent: Decimal, seconds: float
) -> Attempt:
    word = result.stop_reason if isinstance(result, Answer) else str(result.kind)
    problem = result if isinstance(result, Problem) else None
    return Attempt(
        model=transcript.message.model if transcript.message is not None else model,
        result=word,
        request_id=transcript.request_id or (problem.request_id if problem else None),
        usage=transcript.usage,
        cost=spent,
        seconds=seconds,
        error_code=problem.error_code if problem else None,
        is_lost=problem is not None and spent > 0,
    )


def _log(attempt: Attempt, purpose: str) -> None:
    """One line per request; neither key nor prompt is in it."""
    usage = attempt.usage
    logger.info(
        "claude: %s model=%s request_id=%s error_code=%s input=%d cache_read=%d cache_write=%d output=%d "
        "cost=$%.6f seconds=%.2f purpose=%s",
        attempt.result,
        attempt.model,
        attempt.request_id,
        attempt.error_code,
        usage.input,
        usage.cache_read,
        usage.cache_write_5m + usage.cache_write_1h,
        usage.output,
        attempt.cost,
        attempt.seconds,
        purpose,
    )


def _failure(problem: Problem, message: str) -> Failure:
    return Failure(problem.kind, message, error_code=problem.error_code, retry_after=problem.retry_after)
