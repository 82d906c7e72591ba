"""Claude's answers as forecasts, and everything else as an abstention that says why."""

import json
import threading
from decimal import Decimal

import pytest

from surrogate.contract import bins
from surrogate.contract.answer import answer_schema
from surrogate.contract.forecast import Abstention, AbstentionReason, Forecast
from surrogate.forecasters.anthropic import MAX_PROMPT_BYTES, AnthropicForecaster, build
from surrogate.forecasters.base import Forecaster
from surrogate.forecasters.registry import build as build_by_name
from surrogate.llm.config import NO_KEY, Config
from surrogate.llm.ledger import MemoryLedger
from tests.fake_claude import FakeClaude, answer, error, refusal, stopped
from tests.surrogate_llm.requests import request


def stated(likely: str = "H", mass: float = 0.62, rest: float = 0.04) -> dict:
    """A well-formed answer that prefers one bin; the masses add up to 1.14."""
    probabilities = {letter: mass if letter == likely else rest for letter in bins.LETTERS}
    return {"rationale": "Memory sets the pace.", "probabilities": probabilities, "p_correct": 0.9}


def forecaster(server: FakeClaude, **options) -> AnthropicForecaster:
    config = Config(api_key="test-key", base_url=server.url, models=("claude-haiku-5-5",))
    return AnthropicForecaster(config, options.pop("ledger", MemoryLedger(None)), **options)


def test_an_answer_becomes_a_forecast_with_its_raw_sum_and_cost(server):
    server.script(answer(stated()))
    asked = forecaster(server)
    [forecast] = asked.forecast([request()])
    assert isinstance(asked, Forecaster)
    assert isinstance(forecast, Forecast)
    assert forecast.predicted_bin == bins.index_of("H")
    assert forecast.raw_sum == pytest.approx(1.14)
    assert sum(forecast.probabilities) == pytest.approx(1)
    assert (forecast.p_correct, forecast.rationale) == (0.9, "Memory sets the pace.")
    assert forecast.usage.cost_usd == float(asked.ledger.spent) > 0
    assert forecast.usage.output_tokens > 0


def test_the_request_asks_for_structured_output_and_marks_its_stable_parts(server):
    server.script(answer(stated()))
    forecaster(server).forecast([request()])
    [body] = server.bodies
    assert body["output_config"]["format"]["schema"] == json.loads(json.dumps(answer_schema()))
    assert body["system"][-1]["cache_control"]["ttl"] == "1h"
    task, kernel = body["messages"][0]["content"]
    assert task["cache_control"]["ttl"] == "5m"
    assert "cache_control" not in kernel
    assert "fmaxf" in kernel["text"]


def test_many_requests_keep_their_order_and_share_the_cached_prefix(server):
    def respond(body):
        text = body["messages"][0]["content"][1]["text"]
        return answer(stated(next(letter for letter in "CDEFG" if f"int {letter};" in text)))

    server.responder = respond
    forecasts = forecaster(server).forecast([request(f"int {letter};") for letter in "CDEFG"])
    assert [bins.LETTERS[forecast.predicted_bin] for forecast in forecasts] == list("CDEFG")
    assert forecasts[0].usage.cache_write_tokens > 0
    assert all(forecast.usage.cache_read_tokens > 0 for forecast in forecasts[1:])


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (refusal("frontier_llm"), AbstentionReason.DECLINED),
        (stopped("max_tokens"), AbstentionReason.TRUNCATED),
        (stopped("model_context_window_exceeded"), AbstentionReason.TOO_LONG),
        (error(413), AbstentionReason.TOO_LONG),
        (error(429, code="enforced_spend_limit_reached"), AbstentionReason.OVER_BUDGET),
        (error(401), AbstentionReason.UNAVAILABLE),
        (answer("I would say bin H."), AbstentionReason.MALFORMED),
        (answer({"probabilities": {"A": 1}}), AbstentionReason.MALFORMED),
        (answer({**stated(), "p_correct": 7}), AbstentionReason.MALFORMED),
        (answer(stated(rest=0.4)), AbstentionReason.MALFORMED),  # they add up to 5.8
    ],
    ids=["refusal", "max_tokens", "context", "413", "spend", "401", "prose", "bins", "p_correct", "sum"],
)
def test_what_is_no_forecast_is_an_abstention(server, reply, reason):
    server.script(reply)
    [abstention] = forecaster(server).forecast([request()])
    assert isinstance(abstention, Abstention)
    assert abstention.reason == reason
    assert abstention.message.endswith(".")


def test_one_failure_does_not_spoil_the_others(server):
    server.script(answer(stated()), answer("no"), answer(stated()))
    kinds = [type(item) for item in forecaster(server).forecast([request() for _ in range(3)])]
    assert sorted(kind.__name__ for kind in kinds) == ["Abstention", "Forecast", "Forecast"]


def test_the_budget_holds_over_many_requests(server):
    server.responder = lambda _: answer(stated())
    ledger = MemoryLedger(Decimal("0.004"))
    answers = forecaster(server, ledger=ledger).forecast([request() for _ in range(12)])
    refused = [item for item in answers if isinstance(item, Abstention)]
    assert {item.reason for item in refused} == {AbstentionReason.OVER_BUDGET}
    assert 0 < len(server.requests) == 12 - len(refused)
    assert ledger.spent <= ledger.limit


def test_an_endless_source_is_not_sent(server):
    [abstention] = forecaster(server).forecast([request("int a = 1;\n" * (MAX_PROMPT_BYTES // 4))])
    assert isinstance(abstention, Abstention)
    assert abstention.reason == AbstentionReason.TOO_LONG
    assert server.requests == []


def test_forecasts_nobody_waits_for_are_withdrawn(server):
    server.responder = lambda _: answer(stated()).failing("stall_within")
    stop = threading.Event()
    threading.Thread(target=lambda: (server.stalled.wait(), stop.set())).start()
    ledger = MemoryLedger(None)
    asked = forecaster(server, should_stop=stop.is_set, ledger=ledger)
    answers = asked.forecast([request(), request()])
    assert [item.reason for item in answers] == [AbstentionReason.CANCELLED] * 2
    assert ledger.reserved == 0
    assert ledger.spent > 0


def test_without_a_key_there_is_one_clear_line():
    [abstention] = build({}).forecast([request()])
    assert isinstance(abstention, Abstention)
    assert (abstention.reason, abstention.message) == (AbstentionReason.UNAVAILABLE, f"{NO_KEY}.")


def test_a_limit_that_is_no_amount_is_named():
    with pytest.raises(ValueError, match="KERNELHUB_CLAUDE_LIMIT_USD: 'five'"):
        build({"KERNELHUB_CLAUDE_LIMIT_USD": "five"})


def test_the_registry_knows_it_and_its_version_names_what_matters(server):
    assert build_by_name("anthropic").name == "anthropic"
    assert forecaster(server).version == "claude-haiku-5-5/low/prompt-1"
    assert forecaster(server, effort="high").version != forecaster(server).version
    assert forecaster(server, keep_comments=True).version != forecaster(server).version
