"""Every way in which a call can fail, played by the server, and what the client makes of it."""

from dataclasses import replace

import pytest

from surrogate.llm.outcome import Answer, Failure, FailureKind
from tests.fake_claude import answer, error
from tests.surrogate_llm.conftest import FIRST, SECOND, ask, models

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
