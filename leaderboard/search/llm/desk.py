"""Asking models: money and tokens set aside, the question noted, the answer stored before anybody uses it."""

import asyncio
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any, Protocol

from leaderboard.search.llm import affording
from leaderboard.search.llm.affording import Left
from leaderboard.search.llm.arms import Arm
from leaderboard.search.llm.book import Book
from leaderboard.search.llm.journal import Document, StepTaken
from leaderboard.search.llm.retry_tokens import RetryTokens
from surrogate.llm.client import Claude
from surrogate.llm.clock import Clock
from surrogate.llm.config import Config
from surrogate.llm.ledger import SpendLedger
from surrogate.llm.outcome import Answer, Failure, FailureKind
from surrogate.llm.request import Request

#: Seconds for one question with all its attempts.
DEADLINE = 480.0
_AT_ONCE = 4


@dataclass(frozen=True)
class Question:
    """``about`` is noted with it: what a reader of the journal needs to understand the reply."""

    step: str
    arm: Arm
    request: Request
    about: Document

    @property
    def bound(self) -> Decimal:
        return affording.bound_of(self.arm, self.request)

    @property
    def tokens(self) -> int:
        return affording.tokens_of(self.request)


@dataclass(frozen=True)
class Reply:
    """``is_new``: it came now, and was not read from the journal."""

    step: str
    outcome: Answer | Failure
    is_new: bool

    @classmethod
    def none(cls, step: str) -> "Reply":
        """Of a question that was not asked."""
        return cls(step, Failure(FailureKind.OVER_BUDGET, "the question was not asked"), False)


class Purse(Protocol):
    """What is left of a run's money and tokens, beside what the ledger refuses by itself."""

    def left(self) -> Left: ...

    def reserve_tokens(self, count: int) -> bool:
        """False when they do not fit, and then nothing is set aside."""
        ...

    def settle_tokens(self, reserved: int, spent: int) -> None: ...


class Desk:
    """Every call of a search goes over it. ``book`` is replaced whenever its journal is read anew."""

    def __init__(
        self,
        config: Config,
        ledger: SpendLedger,
        purse: Purse,
        *,
        deadline: float = DEADLINE,
        clock: Clock | None = None,
        closing: threading.Event | None = None,
    ) -> None:
        """``closing`` is set once the process is to end: nothing is asked then, and what comes is stored."""
        self._config, self._ledger, self._purse = config, ledger, purse
        self._deadline, self._clock = deadline, clock
        self._closing = closing or threading.Event()
        self._primed: set[str] = set()

    def affords(self, arm: Arm, request: Request) -> bool:
        return affording.bound_of(arm, request) <= self.left.money

    @property
    def left(self) -> Left:
        return self._purse.left()

    def ask(self, book: Book, questions: Sequence[Question]) -> list[Reply]:
        """One reply per question, in order; a step that has its reply already is not asked again.

        Raises StepTaken where another process is asking one of these steps, or nothing more may be asked.
        """
        known = {item.step: _stored(book, item.step) for item in questions}
        new = [item for item in questions if known[item.step] is None]
        replies: dict[str, Reply] = {
            step: Reply(step, outcome, False) for step, outcome in known.items() if outcome is not None
        }
        for item in new:
            if item.step in book.asked:
                raise StepTaken(item.step)
        # The first question of each model goes alone: it writes the prompt's prefix to the model's cache.
        first = [item for item in new if self._prime(item.arm.model)]
        for group in (first, [item for item in new if item not in first]):
            replies |= {reply.step: reply for reply in self._ask_group(book, group)}
        return [replies[item.step] for item in questions]

    def _prime(self, model: str) -> bool:
        is_first = model not in self._primed
        self._primed.add(model)
        return is_first

    def _ask_group(self, book: Book, questions: Sequence[Question]) -> list[Reply]:
        """Each is noted when a thread is free for it: whoever pauses or cancels the search meanwhile, or ends
        the process, pays for the calls under way and for no other."""
        replies: list[Reply] = []
        taken: StepTaken | None = None
        left = deque(questions)
        # Threads with a loop of their own each: the journal may be a database, which an event loop must not
        # touch, and each reply is stored the moment it is there.
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            waiting: dict[Future[Answer | Failure], tuple[Question, RetryTokens]] = {}
            while left or waiting:
                while left and len(waiting) < _AT_ONCE:
                    if self._closing.is_set():
                        taken = StepTaken(left[0].step)
                        left.clear()  # what is under way already is paid for, and stored below
                        break
                    item = left.popleft()
                    if not self._purse.reserve_tokens(item.tokens):
                        failure = Failure(FailureKind.OVER_BUDGET, "the tokens of the search are used up")
                        replies.append(Reply(item.step, failure, True))
                        continue
                    noted = {**item.about, "arm": item.arm.name, "bound": str(item.bound)}
                    noted["tokens_bound"] = item.tokens
                    try:
                        book.add("asked", item.step, noted)
                    except StepTaken as error:
                        self._purse.settle_tokens(item.tokens, 0)
                        taken = error
                        left.clear()  # as above
                        break
                    note = partial(book.journal.again, item.step, item.bound, item.tokens)
                    ledger = RetryTokens(self._ledger, self._purse, item.tokens, note, self._closing)
                    waiting[pool.submit(self._call, item, ledger)] = item, ledger
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    (item, ledger), outcome = waiting.pop(future), future.result()
                    if ledger.is_closed:
                        outcome, taken = _given_up(outcome), StepTaken(item.step)
                    tokens = tokens_of(outcome, lost=item.tokens)
                    try:
                        book.add("replied", item.step, reply_document(outcome, tokens))
                    except StepTaken as error:
                        taken = error  # it took so long that another process booked it as lost
                    self._purse.settle_tokens(ledger.reserved, tokens)
                    replies.append(Reply(item.step, outcome, True))
        if taken is not None:
            raise taken
        return replies

    def _call(self, question: Question, ledger: SpendLedger) -> Answer | Failure:
        return asyncio.run(self._call_async(question, ledger))

    async def _call_async(self, question: Question, ledger: SpendLedger) -> Answer | Failure:
        config = replace(self._config, models=(question.arm.model,))
        async with Claude(config, ledger, clock=self._clock) as client:
            return await client.ask(question.request, deadline=self._deadline)


def _given_up(outcome: Answer | Failure) -> Failure:
    """What a call came to whose next attempt was not made: earlier ones cost what they cost."""
    message = "the process that asked was stopped"
    return Failure(FailureKind.CANCELLED, message, attempts=outcome.attempts, seconds=outcome.seconds)


def stored(book: Book, step: str) -> Reply | None:
    """The reply that the journal has of a step."""
    outcome = _stored(book, step)
    return None if outcome is None else Reply(step, outcome, False)


def tokens_of(outcome: Answer | Failure, *, lost: int) -> int:
    """Of all attempts; each that was lost on the way counts ``lost``, as its cost counts its bound."""
    used = [item.usage for item in outcome.attempts if not item.is_lost]
    return sum(usage.prompt + usage.output for usage in used) + lost * (len(outcome.attempts) - len(used))


def reply_document(outcome: Answer | Failure, tokens: int) -> dict[str, Any]:
    """What the journal keeps of a reply: enough to use it again, and to tell what it cost."""
    common = {
        "cost": str(outcome.cost),
        "tokens": tokens,
        "seconds": round(outcome.seconds, 3),
        "request_id": outcome.request_id,
        "attempts": [item.result for item in outcome.attempts],
    }
    if isinstance(outcome, Answer):
        data = None if outcome.data is None else dict(outcome.data)
        return {**common, "result": "answer", "model": outcome.model, "text": outcome.text, "data": data}
    return {**common, "result": str(outcome.kind), "message": outcome.message}


def _stored(book: Book, step: str) -> Answer | Failure | None:
    document = book.replied.get(step)
    if document is None:
        return None
    if document["result"] == "answer":
        return Answer(document["text"], document["model"], "end_turn", document["data"])
    return Failure(FailureKind(document["result"]), document["message"])
