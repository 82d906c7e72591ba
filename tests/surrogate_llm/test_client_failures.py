"""Every way in which a call can fail, played by the server, and what the client makes of it."""

import asyncio
from dataclasses import replace
from decimal import Decimal

import pytest

from surrogate.llm.ledger import MemoryLedger
from surrogate.llm.outcome import Answer, Failure, FailureKind
from tests.fake_claude import answer, error, refusal, stopped
from tests.surrogate_llm.conftest import FIRST, QUESTION, SECOND, claude


async def ask(config, ledger, clock, *, deadline=60.0, question=QUESTION):
    async with claude(config, ledger, clock) as client:
        return await client.ask(question, deadline=deadline)


def models(server):
    return [body["model"] for body in server.bodies]


# --- Limits --------------------------------------------------------------------------------------


async def test_a_rate_limit_is_waited_out_for_as_long_as_the_api_says(server, config, ledger, clock):
    server.script(error(429, headers={"retry-after": "7"}), answer("later"))
    outcome = await ask(config, ledger, clock)
    assert isinstance(outcome, Answer)
    assert models(server) == [FIRST, FIRST]
    [wait] = clock.waits
    assert 7 <= wait <= 7.7


async def test_milliseconds_are_preferred_and_a_date_is_understood(server, config, ledger, clock):
    server.script(
        error(429, headers={"retry-after-ms": "1500", "retry-after": "2"}),
        error(429, headers={"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}),
        answer("later"),
    )
    outcome = await ask(config, ledger, clock)
    assert isinstance(outcome, Answer)
    first, second = clock.waits
    assert 1.5 <= first <= 1.65
    assert second == 0  # that date is past


async def test_a_rate_limit_without_a_time_backs_off_with_jitter(server, config, ledger, clock):
    server.script(error(429), error(429), error(429), answer("later"))
    outcome = await ask(config, ledger, clock)
    assert isinstance(outcome, Answer)
    for wait, most in zip(clock.waits, (0.5, 1.0, 2.0), strict=True):
        assert most / 2 <= wait <= most


async def test_a_wait_past_the_deadline_is_not_begun_and_another_model_is_asked(
    server, config, ledger, clock
):
    server.script(error(429, headers={"retry-after": "3600"}), answer("from the second"))
    outcome = await ask(config, ledger, clock, deadline=30)
    assert isinstance(outcome, Answer)
    assert models(server) == [FIRST, SECOND]
    assert clock.waits == []


async def test_with_no_other_model_the_failure_says_how_long_the_wait_would_be(server, config, ledger, clock):
    server.script(error(429, code="ramp_limit_exceeded", headers={"retry-after": "3600"}))
    outcome = await ask(replace(config, models=(FIRST,)), ledger, clock, deadline=30)
    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.retry_after) == (FailureKind.RATE_LIMITED, 3600)
    assert outcome.error_code == "ramp_limit_exceeded"
    assert "reaches past" in outcome.message


@pytest.mark.parametrize(
    "reply",
    [
        error(
            429, code="enforced_spend_limit_reached", headers={"retry-after": "1", "x-should-retry": "true"}
        ),
        error(429, code="contract_spend_limit_reached"),
        error(402, "no credit"),
        error(400, "You have reached your specified API usage limits. You will regain access on 2026-12-01."),
        error(400, "You have reached your specified workspace API usage limits."),
        error(403, type_="billing_error"),
    ],
    ids=["enforced", "contract", "billing", "own", "workspace", "billing-403"],
)
async def test_a_spend_limit_is_never_tried_again(server, config, ledger, clock, reply):
    server.script(reply)
    outcome = await ask(config, ledger, clock)
    assert isinstance(outcome, Failure)
    assert outcome.kind == FailureKind.SPEND_LIMIT
    assert len(server.requests) == 1
    assert clock.waits == []
    assert ledger.spent == ledger.reserved == 0


# --- Refused requests ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (error(401, "invalid x-api-key"), FailureKind.UNAUTHORISED),
        (error(403, "not yours"), FailureKind.FORBIDDEN),
        (error(400, "max_tokens: too many"), FailureKind.BAD_REQUEST),
        (error(413, "Request exceeds the maximum size"), FailureKind.TOO_LARGE),
    ],
    ids=["401", "403", "400", "413"],
)
async def test_our_own_mistakes_are_not_repeated(server, config, ledger, clock, reply, kind):
    server.script(reply)
    outcome = await ask(config, ledger, clock)
    assert isinstance(outcome, Failure)
    assert outcome.kind == kind
    assert reply.message in outcome.message
    assert outcome.request_id == "req_0001"
    assert len(server.requests) == 1
    assert ledger.spent == ledger.reserved == 0


async def test_a_wrong_key_is_seen_by_the_server_itself(server, config, ledger, clock):
    outcome = await ask(replace(config, api_key="another"), ledger, clock)
    assert isinstance(outcome, Failure)
    assert outcome.kind == FailureKind.UNAUTHORISED
    assert "another" not in outcome.message


async def test_a_model_that_is_gone_gives_way_to_the_next(server, config, ledger, clock):
    outcome = await ask(replace(config, models=("claude-opus-4-6", SECOND)), ledger, clock)
    assert isinstance(outcome, Answer)
    assert outcome.model == SECOND
    assert [attempt.result for attempt in outcome.attempts] == ["unknown_model", "end_turn"]


async def test_a_model_without_a_price_is_not_asked(server, config, ledger, clock):
    outcome = await ask(replace(config, models=("claude-fable-5-2",)), ledger, clock)
    assert isinstance(outcome, Failure)
    assert outcome.kind == FailureKind.UNKNOWN_PRICE
    assert server.requests == []


# --- Failing servers -----------------------------------------------------------------------------


async def test_an_overloaded_model_gets_few_tries_and_then_another_is_asked(server, config, ledger, clock):
    server.script(error(529), error(529), answer("from the second"))
    outcome = await ask(config, ledger, clock)
    assert isinstance(outcome, Answer)
    assert models(server) == [FIRST, FIRST, SECOND]
    assert len(clock.waits) == 1


async def test_when_every_model_is_overloaded_the_last_failure_is_reported(server, config, ledger, clock):
    server.responder = lambda _: error(529, "Overloaded")
    outcome = await ask(config, ledger, clock)
    assert isinstance(outcome, Failure)
    assert outcome.kind == FailureKind.OVERLOADED
    assert models(server) == [FIRST, FIRST, SECOND, SECOND]
    assert ledger.spent == ledger.reserved == 0


@pytest.mark.parametrize("status", [500, 503, 409])
async def test_a_server_error_is_tried_again(server, config, ledger, clock, status):
    server.script(error(status), error(status), answer("now"))
    outcome = await ask(config, ledger, clock)
    assert isinstance(outcome, Answer)
    assert models(server) == [FIRST] * 3
    assert outcome.cost == ledger.spent


async def test_a_gateway_timeout_may_have_cost_money(server, config, ledger, clock):
    server.script(error(504), answer("now"))
    outcome = await ask(config, ledger, clock)
    assert isinstance(outcome, Answer)
    timed_out, answered = outcome.attempts
    assert timed_out.cost > answered.cost > 0
    assert ledger.spent == timed_out.cost + answered.cost


async def test_the_api_may_forbid_a_retry(server, config, ledger, clock):
    server.script(error(500, headers={"x-should-retry": "false"}))
    outcome = await ask(replace(config, models=(FIRST,)), ledger, clock)
    assert isinstance(outcome, Failure)
    assert outcome.kind == FailureKind.SERVER_ERROR
    assert len(server.requests) == 1


async def test_a_proxys_page_is_an_error_like_any_other(server, config, ledger, clock):
    server.responder = lambda _: replace(error(502), raw_body=b"<html>Bad gateway</html>")
    outcome = await ask(config, ledger, clock)
    assert isinstance(outcome, Failure)
    assert outcome.kind == FailureKind.SERVER_ERROR


@pytest.mark.parametrize("body", [b"<html>Hello</html>", b"{half", b""], ids=["html", "json", "empty"])
async def test_a_success_that_is_no_stream_is_broken(server, config, ledger, clock, body):
    server.responder = lambda _: replace(answer("x"), raw_body=body)
    outcome = await ask(config, ledger, clock)
    assert isinstance(outcome, Failure)
    assert outcome.kind == FailureKind.BROKEN_STREAM
    assert models(server) == [FIRST, FIRST]
    assert ledger.spent > 0


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
