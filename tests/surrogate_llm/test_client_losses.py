"""Calls that are lost, answers that are none, money, and cancelling: what the client makes of them."""

import asyncio
import threading
from dataclasses import replace
from decimal import Decimal

import pytest

from surrogate.llm.ledger import MemoryLedger
from surrogate.llm.outcome import Answer, Failure, FailureKind
from tests.fake_claude import answer, error, refusal, stopped
from tests.surrogate_llm.conftest import FIRST, ask, models

# --- Lost calls ----------------------------------------------------------------------------------


async def test_nobody_listening_costs_nothing(config, ledger, clock):
    outcome = await ask(replace(config, base_url="http://127.0.0.1:9"), ledger, clock)
    assert isinstance(outcome, Failure)
    assert outcome.kind == FailureKind.CONNECTION
    assert len(outcome.attempts) == 3
    assert ledger.spent == ledger.reserved == 0


async def test_a_reset_before_the_response_is_tried_again_and_counts_as_spent(server, config, ledger, clock):
    server.script(answer("x").failing("reset"), answer("now"))
    outcome = await ask(config, ledger, clock)
    assert isinstance(outcome, Answer)
    assert [attempt.result for attempt in outcome.attempts] == ["connection", "end_turn"]
    assert outcome.attempts[0].cost > 0


@pytest.mark.parametrize("fault", ["cut_within", "reset_within", "garbage_within"])
async def test_a_stream_that_breaks_is_tried_once_more_and_half_an_answer_is_none(
    server, config, ledger, clock, fault
):
    server.responder = lambda _: answer("a long enough answer to break").failing(fault)
    outcome = await ask(config, ledger, clock)
    assert isinstance(outcome, Failure)
    assert outcome.kind == FailureKind.BROKEN_STREAM
    assert models(server) == [FIRST, FIRST]
    assert outcome.cost == ledger.spent > 0
    assert ledger.reserved == 0


@pytest.mark.parametrize("fault", ["stall_within", "pings_within"])
async def test_a_stream_that_stands_still_is_left(server, config, ledger, clock, fault):
    """Pings keep the socket busy, but they are no answer."""
    server.script(answer("a long enough answer to stall").failing(fault), answer("now"))
    outcome = await ask(replace(config, stall_seconds=0.2), ledger, clock)
    assert isinstance(outcome, Answer)
    assert [attempt.result for attempt in outcome.attempts] == ["stalled", "end_turn"]
    assert outcome.attempts[0].cost > outcome.attempts[1].cost


async def test_a_server_that_never_answers_is_left(server, config, ledger, clock):
    server.responder = lambda _: answer("x").failing("silent")
    outcome = await ask(replace(config, first_byte_seconds=0.05, models=(FIRST,)), ledger, clock)
    assert isinstance(outcome, Failure)
    assert outcome.kind == FailureKind.STALLED
    assert ledger.spent > 0
    assert ledger.reserved == 0


async def test_the_deadline_ends_a_silent_call(server, config, ledger, clock):
    server.script(answer("x").failing("silent"))
    outcome = await ask(config, ledger, clock, deadline=0.1)
    assert isinstance(outcome, Failure)
    assert outcome.kind == FailureKind.DEADLINE
    assert ledger.spent == outcome.cost > 0


@pytest.mark.parametrize(
    ("error_type", "kind"),
    [
        ("overloaded_error", "overloaded"),
        ("api_error", "server_error"),
        ("rate_limit_error", "rate_limited"),
        ("timeout_error", "gateway_timeout"),
    ],
)
async def test_an_error_event_after_status_200_is_known_by_its_type(
    server, config, ledger, clock, error_type, kind
):
    server.script(answer("a long enough answer to break").failing("error_within", error_type), answer("now"))
    outcome = await ask(config, ledger, clock)
    assert isinstance(outcome, Answer)
    assert [attempt.result for attempt in outcome.attempts] == [kind, "end_turn"]
    assert outcome.attempts[0].cost > 0  # it had begun, so it is billed


# --- Answers that are none -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (stopped("max_tokens"), FailureKind.TRUNCATED),
        (stopped("model_context_window_exceeded"), FailureKind.CONTEXT_EXCEEDED),
        (stopped("something_new"), FailureKind.BROKEN_STREAM),
    ],
    ids=["max_tokens", "context", "unknown"],
)
async def test_a_cut_off_answer_is_kept_for_the_log_only(server, config, ledger, clock, reply, kind):
    server.script(reply)
    outcome = await ask(config, ledger, clock)
    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.partial) == (kind, "half an ans")
    assert len(server.requests) == 1
    assert outcome.cost == ledger.spent > 0


async def test_a_refusal_names_its_category_and_is_not_argued_with(server, config, ledger, clock):
    server.script(refusal("frontier_llm", "This may assist a competing model."))
    outcome = await ask(config, ledger, clock)
    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.refusal_category) == (FailureKind.REFUSED, "frontier_llm")
    assert "This may assist" in outcome.message
    assert len(server.requests) == 1


async def test_a_refusal_without_details_is_one_too(server, config, ledger, clock):
    server.script(replace(refusal(), stop_details=None))
    outcome = await ask(config, ledger, clock)
    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.refusal_category) == (FailureKind.REFUSED, None)


# --- Money and cancelling ------------------------------------------------------------------------


async def test_a_call_that_does_not_fit_the_budget_is_not_sent(server, config, clock):
    ledger = MemoryLedger(Decimal("0.0001"))
    outcome = await ask(config, ledger, clock)
    assert isinstance(outcome, Failure)
    assert outcome.kind == FailureKind.OVER_BUDGET
    assert "is left" in outcome.message
    assert server.requests == []


async def test_lost_calls_use_the_budget_up(server, config, clock):
    ledger = MemoryLedger(Decimal("0.01"))
    server.responder = lambda _: answer("x").failing("reset")
    outcome = await ask(config, ledger, clock)
    assert isinstance(outcome, Failure)
    assert outcome.kind == FailureKind.OVER_BUDGET
    assert 0 < len(server.requests) < 3
    assert ledger.spent > 0
    assert ledger.reserved == 0


async def test_cancelling_within_a_stream_books_the_call_and_stops_at_once(server, config, ledger, clock):
    server.script(answer("a long enough answer to stall").failing("stall_within"))
    task = asyncio.create_task(ask(config, ledger, clock))
    await asyncio.to_thread(server.stalled.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ledger.spent > 0
    assert ledger.reserved == 0


async def test_cancelling_interrupts_a_long_wait(server, config, ledger, clock):
    server.script(error(429, headers={"retry-after": "50"}))
    asked_to_wait = asyncio.Event()

    async def endless(seconds: float) -> None:
        asked_to_wait.set()
        await asyncio.Event().wait()

    clock.sleep = endless
    task = asyncio.create_task(ask(config, ledger, clock))
    await asked_to_wait.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ledger.spent == ledger.reserved == 0


async def test_cancelling_while_money_is_reserved_gives_it_back(server, config, clock):
    begun, may_go_on = threading.Event(), threading.Event()

    class InThread(MemoryLedger):
        """Reserves in a thread, as the database does, which no cancelling stops."""

        async def reserve(self, amount, *, purpose):
            def slowly():
                begun.set()
                may_go_on.wait()
                return asyncio.run(MemoryLedger.reserve(self, amount, purpose=purpose))

            return await asyncio.to_thread(slowly)

    ledger = InThread(None)
    task = asyncio.create_task(ask(config, ledger, clock))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ledger.spent == ledger.reserved == 0
    assert server.requests == []
