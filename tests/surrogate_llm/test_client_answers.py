"""What a good conversation gives: text, structured data, tools, usage and its price."""

from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import pytest

from surrogate.llm.client import Claude
from surrogate.llm.config import NO_KEY, Config
from surrogate.llm.ledger import MemoryLedger
from surrogate.llm.outcome import Answer, Failure, FailureKind
from surrogate.llm.request import TextBlock
from tests.fake_claude import FakeClaude, Reply, answer, paused, stopped, tool_use
from tests.surrogate_llm.conftest import FIRST, QUESTION, FakeClock, claude

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["bin"],
    "properties": {"bin": {"type": "string"}},
}


async def ask(client: Claude, question=QUESTION, **options):
    async with client:
        return await client.ask(question, deadline=60, **options)


async def test_text_usage_and_request_id_are_reported(server, config, ledger, clock):
    server.script(answer("Good morning to you all."))
    outcome = await ask(claude(config, ledger, clock))
    assert isinstance(outcome, Answer)
    assert (outcome.text, outcome.stop_reason, outcome.model) == (
        "Good morning to you all.",
        "end_turn",
        FIRST,
    )
    assert outcome.request_id == "req_0001"
    assert outcome.usage.input > 0
    assert outcome.usage.output > 0
    assert outcome.cost == ledger.spent > 0
    assert ledger.reserved == 0


async def test_a_stop_sequence_ends_an_answer_like_any_other(server, config, ledger, clock):
    server.script(stopped("stop_sequence", "all of it"))
    outcome = await ask(claude(config, ledger, clock), QUESTION)
    assert isinstance(outcome, Answer)
    assert (outcome.text, outcome.stop_reason) == ("all of it", "stop_sequence")


async def test_text_arrives_piece_by_piece(server, config, ledger, clock):
    server.script(answer("one two three four five six seven eight"))
    seen: list[str] = []
    await ask(claude(config, ledger, clock), on_text=seen.append)
    assert len(seen) > 2
    assert all(later.startswith(earlier) for earlier, later in pairwise(seen))
    assert seen[-1] == "one two three four five six seven eight"


async def test_structured_output_is_read_past_thinking_blocks(server, config, ledger, clock):
    thinking = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    text = {"type": "text", "text": '{"bin": "H"}'}
    server.script(Reply(content=(thinking, text), thinking_tokens=7))
    outcome = await ask(claude(config, ledger, clock), replace(QUESTION, schema=SCHEMA, effort="low"))
    assert isinstance(outcome, Answer)
    assert outcome.data == {"bin": "H"}
    assert outcome.usage.thinking == 7
    assert server.bodies[0]["output_config"] == {
        "format": {"type": "json_schema", "schema": SCHEMA},
        "effort": "low",
    }


@pytest.mark.parametrize("text", ["[1, 2]", "{half", "", "null"])
async def test_what_is_no_json_object_is_malformed(server, config, ledger, clock, text):
    server.script(answer(text))
    outcome = await ask(claude(config, ledger, clock), replace(QUESTION, schema=SCHEMA))
    assert isinstance(outcome, Failure)
    assert outcome.kind == FailureKind.MALFORMED
    assert outcome.partial == text
    assert outcome.cost == ledger.spent > 0  # it was answered, so it was billed


async def test_tool_calls_are_handed_over(server, config, ledger, clock):
    server.script(tool_use("measure", {"kernel": "a" * 40}))
    tool = {"name": "measure", "description": "d", "input_schema": {"type": "object", "properties": {}}}
    outcome = await ask(claude(config, ledger, clock), replace(QUESTION, tools=(tool,)))
    assert isinstance(outcome, Answer)
    assert outcome.stop_reason == "tool_use"
    assert [(call.name, call.input) for call in outcome.tool_calls] == [("measure", {"kernel": "a" * 40})]


async def test_a_stable_prefix_is_written_to_the_cache_once_and_then_read(server, config, ledger, clock):
    long = replace(QUESTION, system=(TextBlock("All about kernels. " * 200, cache="1h"),))
    async with claude(config, ledger, clock) as client:
        first = await client.ask(long, deadline=60)
        second = await client.ask(replace(long, user=(TextBlock("And now?"),)), deadline=60)
    assert first.usage.cache_write_1h == second.usage.cache_read > 512
    assert first.usage.cache_read == second.usage.cache_write_1h == 0
    assert second.cost < first.cost / 10


async def test_a_paused_turn_is_handed_back_and_goes_on(server, config, ledger, clock):
    server.script(paused("thinking of"), answer("the end"))
    outcome = await ask(claude(config, ledger, clock))
    assert isinstance(outcome, Answer)
    assert outcome.text == "the end"
    assert [attempt.result for attempt in outcome.attempts] == ["paused", "end_turn"]
    last = server.bodies[1]["messages"][-1]
    assert (last["role"], last["content"][0]["text"]) == ("assistant", "thinking of")
    assert outcome.cost == ledger.spent


async def test_a_turn_that_stays_paused_is_given_up(server, config, ledger, clock):
    server.responder = lambda _: paused()
    outcome = await ask(claude(config, ledger, clock))
    assert isinstance(outcome, Failure)
    assert outcome.kind == FailureKind.PAUSED
    assert len(server.requests) == 1 + config.max_continuations


async def test_the_model_that_answered_is_the_one_that_is_priced(server, config, ledger, clock):
    """A fallback on the server's side may answer for a dearer model than the one asked."""
    server.script(answer("x", output_tokens=1000, model="claude-opus-5-5"))
    outcome = await ask(claude(config, ledger, clock))
    assert isinstance(outcome, Answer)
    assert outcome.model == "claude-opus-5-5"
    assert outcome.cost > Decimal("0.02")  # 1000 output tokens at $20 a million


async def test_without_a_key_nothing_is_sent_and_one_line_says_so(server, ledger, clock):
    config = Config.from_environment({"ANTHROPIC_BASE_URL": server.url})
    outcome = await ask(claude(config, ledger, clock))
    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.message) == (FailureKind.NO_KEY, NO_KEY)
    assert server.requests == []


async def test_the_environment_names_server_key_and_models(server, ledger, clock):
    environment = {
        "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_AUTH_TOKEN": "test-key",
        "KERNELHUB_CLAUDE_MODELS": "claude-opus-5-5, claude-haiku-5-5",
    }
    outcome = await ask(claude(Config.from_environment(environment), ledger, clock))
    assert isinstance(outcome, Answer)
    assert outcome.model == "claude-opus-5-5"
    assert server.requests[0].headers["authorization"] == "Bearer test-key"


async def test_the_log_names_request_and_usage_but_neither_key_nor_prompt(
    server: FakeClaude, config: Config, ledger: MemoryLedger, clock: FakeClock, caplog
):
    caplog.set_level("INFO", logger="surrogate.llm")
    await ask(claude(config, ledger, clock))
    [record] = [record for record in caplog.records if record.name.startswith("surrogate.llm")]
    line = record.getMessage()
    assert "request_id=req_0001" in line
    assert "input=" in line
    assert "test-key" not in line
    assert "Hello?" not in line
    assert "test-key" not in repr(config)
