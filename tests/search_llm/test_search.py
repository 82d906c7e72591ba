"""A whole search against the fake server: what goes wrong is counted, paid for once, and survived."""

import json
import threading
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from leaderboard.search.llm.journal import FileJournal
from leaderboard.search.local import SearchStopped
from leaderboard.search.plan import Plan, Policy
from tests.fake_claude import FakeClaude, Reply, answer, error, refusal, stopped
from tests.fake_claude.server import Responder
from tests.search_llm.conftest import HAIKU, SONNET, MakeSearch, code, edit, kernel, measure, purpose, vote

FORM = answer({"steps": ["subtract the peak"], "ideas": ["read once"]})


class Author:
    """Answers each kind of request in its own way; ``best`` is the fastest kernel that it ever writes."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, body: dict[str, Any]) -> Reply:
        kind = purpose(body)
        if kind == "form":
            return FORM
        if kind == "judge":
            return vote(False)
        self.count += 1
        if kind == "diff":
            text = body["messages"][0]["content"][0]["text"]
            if "// speed" not in text:
                return edit("#include <cmath>", f"#include <cmath>\n// speed 2\nstatic int made{self.count};")
            line = next(line for line in text.splitlines() if line.startswith("// speed"))
            return edit(line, f"{line}\nstatic int made{self.count};")
        return code(kernel(f"step{self.count}", min(self.count, 12)))


def thinking(author: Responder, until: threading.Event) -> Responder:
    """As ``author``, but all except the functional form only once ``until`` is set."""
    return lambda body: replace(author(body), until=None if purpose(body) == "form" else until)


def test_what_goes_wrong_is_survived_and_the_best_is_right(
    make_search: MakeSearch, server: FakeClaude
) -> None:
    server.responder = Author()
    wrong = kernel("first", broken="is_wrong")
    server.script(
        FORM,
        error(429, headers={"retry-after": "7"}),  # cured by waiting
        code(wrong),  # compiles, computes something else
        stopped("max_tokens", "```cpp\nextern"),  # the repair is cut off
        refusal("frontier_llm"),
        code(kernel("repaired", 4)),
        error(529),
        error(529),  # twice: the client gives up on the model
        code(kernel("second", 5)).failing("stall_within"),
        code(kernel("second", 5)).failing("stall_within"),
        code(kernel("third", 20)),
    )
    written = make_search()
    written.search.run(8)
    report = written.report()
    assert server.unused == 0
    assert report["measured"] == 8
    assert report["best_seconds"] == pytest.approx(8e-3 / 20)
    assert "third" in report["best_source"]
    assert report["replies_without_kernel"] == {"truncated": 1, "refused": 1, "provider": 2}
    assert report["measurements"][1]["verdict"] == "wrong"
    assert report["measurements"][2]["operator"] == "repair"
    repair = next(body for body in server.bodies if purpose(body) in ("repair",))
    assert "Output y differs." in repair["messages"][0]["content"][0]["text"]
    # What the ledger booked is what the journal tells, lost calls included, and within the limit.
    assert written.purse.ledger.reserved == 0
    assert report["money_spent"] == pytest.approx(float(written.purse.ledger.spent), abs=1e-6)
    assert 0 < report["money_spent"] <= 5


def test_the_prefix_is_cached_and_the_same_for_all_calls(make_search: MakeSearch, server: FakeClaude) -> None:
    server.responder = Author()
    written = make_search()
    written.search.run(4)
    writing = [body for body in server.bodies if purpose(body) != "form"]
    assert len({json.dumps(body["system"]) for body in writing}) == 1
    assert writing[0]["system"][-1]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert "subtract the peak" in writing[0]["system"][-1]["text"]
    entries = [item for item in written.generator.journal.entries() if item["kind"] == "asked"]
    assert [item["step"] for item in entries][:2] == ["form", "g1.i0.s0.t0"]


def test_a_search_never_spends_more_than_its_money(make_search: MakeSearch, server: FakeClaude) -> None:
    author = Author()
    server.responder = lambda body: replace(author(body), output_tokens=4000)
    written = make_search(money="0.5")  # such an answer costs 4 cents, and is bounded by about 17
    written.search.run(200)
    report = written.report()
    assert "money" in report["stop_reason"]
    assert 0.3 < report["money_spent"] <= 0.5
    assert report["best_seconds"] is not None
    assert report["measured"] < 200


def test_money_that_pays_for_the_cheaper_model_alone_is_used_by_it(
    make_search: MakeSearch, server: FakeClaude
) -> None:
    server.responder = Author()
    written = make_search(money="0.02", models=f"{SONNET} {HAIKU}")  # a first call of Sonnet may cost 6 cents
    written.search.run(2)
    assert written.report()["measured"] == 2
    assert set(written.report()["models"]) == {HAIKU}


def test_tokens_have_a_limit_of_their_own(make_search: MakeSearch, server: FakeClaude) -> None:
    server.responder = Author()
    written = make_search(tokens=40_000)
    written.search.run(200)
    assert "tokens" in written.report()["stop_reason"]
    assert written.report()["tokens_spent"] <= 40_000


def test_attempts_that_were_lost_count_with_their_bounds(make_search: MakeSearch, server: FakeClaude) -> None:
    """Of tokens as of money: what a stream that broke off had been billed, nobody has said."""
    server.script(FORM, code(kernel("one")).failing("stall_within"), error(529), code(kernel("one")))
    written = make_search()
    written.search.run(2)
    replied = {
        item["step"]: item for item in written.generator.journal.entries() if item["kind"] == "replied"
    }
    asked = {item["step"]: item for item in written.generator.journal.entries() if item["kind"] == "asked"}
    step = "g1.i0.s0.t0"
    assert replied[step]["attempts"] == ["stalled", "overloaded", "end_turn"]
    bound, cost = asked[step]["tokens_bound"], Decimal(replied[step]["cost"])
    assert cost > Decimal(asked[step]["bound"])
    assert bound < replied[step]["tokens"] < 2 * bound
    assert written.report()["tokens_spent"] == replied["form"]["tokens"] + replied[step]["tokens"]


def test_a_retry_that_the_tokens_may_not_pay_for_is_not_made(
    make_search: MakeSearch, server: FakeClaude
) -> None:
    """A lost attempt counts with its bound, so the next one needs as many again, set aside before it."""
    broken = code(kernel("one")).failing("stall_within")
    server.script(FORM, broken, code(kernel("one")))
    unlimited = make_search()
    unlimited.search.run(2)
    entries = unlimited.generator.journal.entries()
    bound = next(
        item["tokens_bound"] for item in entries if item["kind"] == "asked" and item["step"] != "form"
    )
    spent = next(item["tokens"] for item in entries if item["kind"] == "replied" and item["step"] == "form")
    assert unlimited.report()["tokens_spent"] > spent + bound
    for more, attempts in ((bound // 2, 1), (bound, 2)):
        limit = spent + bound + more
        server.script(FORM, broken, *([code(kernel("one"))] if attempts == 2 else []))
        before = len(server.requests)
        written = make_search(tokens=limit)
        written.search.run(2)
        assert server.unused == 0
        assert len(server.requests) - before == 1 + attempts
        assert written.report()["tokens_spent"] <= limit
        stopped_by_tokens = "tokens" in written.report()["stop_reason"]
        assert stopped_by_tokens == (attempts == 1)


def test_what_was_refused_at_the_door_leaves_its_tokens_to_the_next_attempt(
    make_search: MakeSearch, server: FakeClaude
) -> None:
    server.script(FORM, error(529), code(kernel("one")))
    written = make_search(tokens=60_000)
    written.search.run(2)
    replied = [item for item in written.generator.journal.entries() if item["kind"] == "replied"]
    assert replied[-1]["attempts"] == ["overloaded", "end_turn"]
    # All that was set aside and not used is free again.
    assert written.purse.reserve_tokens(60_000 - written.report()["tokens_spent"])


def test_a_provider_that_fails_again_and_again_pauses_the_search(
    make_search: MakeSearch, server: FakeClaude
) -> None:
    server.responder = lambda _: error(500)
    written = make_search()
    with pytest.raises(SearchStopped, match="3 calls of the language model failed one after the other"):
        written.search.run(8)
    # The functional form and two kernels, each tried as often as the client thinks right.
    assert len(server.requests) == 9
    assert written.report()["money_spent"] == 0


def test_a_wrong_key_stops_at_once(make_search: MakeSearch, server: FakeClaude) -> None:
    server.api_key = "another"
    with pytest.raises(SearchStopped, match=r"can't be asked.*401"):
        make_search().search.run(8)
    assert len(server.requests) == 1


def test_a_model_that_only_refuses_pauses_the_search(make_search: MakeSearch, server: FakeClaude) -> None:
    server.responder = lambda body: FORM if purpose(body) == "form" else refusal()
    with pytest.raises(SearchStopped, match="None of 3 answers gave a new kernel"):
        make_search().search.run(8)


def test_a_resumed_search_pays_for_nothing_twice(
    make_search: MakeSearch, server: FakeClaude, journal_file: Path
) -> None:
    """It comes to the same kernels and the same bill, and neither asks nor measures anything again."""
    identity = {"task": "softmax", "seed": 0}
    server.responder = Author()
    whole = make_search(journal=FileJournal(journal_file, identity), verify=HAIKU)
    whole.search.run(5)
    once = whole.report()
    requests = len(server.requests)
    lines = journal_file.read_text().splitlines(keepends=True)
    measured: list[str] = []

    def counting(text: Any) -> Any:
        measured.append(text.source)
        return measure(text)

    again = make_search(journal=FileJournal(journal_file, identity), verify=HAIKU, measure=counting)
    again.search.run(5)
    assert len(server.requests) == requests
    assert measured == []
    assert again.report() == once
    # Killed between a reply and its use: what was replied is used, what was only asked is passed over.
    replied = [place for place, line in enumerate(lines) if json.loads(line)["kind"] == "replied"]
    journal_file.write_text("".join(lines[: replied[1] + 1]) + '{"kind": "us')
    after = make_search(journal=FileJournal(journal_file, identity), verify=HAIKU)
    after.search.run(2)
    used = [item for item in after.generator.journal.entries() if item["kind"] == "used"]
    assert used[0]["digest"] == next(
        json.loads(line)["digest"] for line in lines if json.loads(line)["kind"] == "used"
    )
    assert all(purpose(body) == "judge" for body in server.bodies[requests:])


def test_a_call_that_died_with_its_process_counts_as_spent(
    make_search: MakeSearch, server: FakeClaude, journal_file: Path
) -> None:
    server.responder = Author()
    make_search(journal=FileJournal(journal_file, {})).search.run(2)
    lines = journal_file.read_text().splitlines(keepends=True)
    asked = next(place for place, line in enumerate(lines) if '"g1.i0.s0.t0"' in line)
    journal_file.write_text("".join(lines[: asked + 1]))
    second = make_search(journal=FileJournal(journal_file, {}), money="5")
    bound = Decimal(json.loads(lines[asked])["bound"])
    form = Decimal(json.loads(lines[asked - 1])["cost"])
    assert second.purse.left().money == Decimal(5) - bound - form
    second.search.run(2)
    steps = [item["step"] for item in second.generator.journal.entries() if item["kind"] == "asked"]
    assert steps == ["form", "g1.i0.s0.t0", "g1.i0.s0.t1"]


def test_a_journal_of_another_search_is_refused(journal_file: Path) -> None:
    FileJournal(journal_file, {"task": "softmax"})
    with pytest.raises(ValueError, match="task is 'softmax' there"):
        FileJournal(journal_file, {"task": "matmul"})


def test_models_are_shared_out_by_what_they_are_worth(make_search: MakeSearch, server: FakeClaude) -> None:
    """One model refuses, the other writes: the money goes to the one that writes."""

    def respond(body: dict[str, Any]) -> Reply:
        if body["model"] == HAIKU and purpose(body) != "form":
            return refusal()
        return author(body)

    author = Author()
    server.responder = respond
    written = make_search(models=f"{SONNET} {HAIKU}", money="20")
    written.search.run(12)
    report = written.report()
    assert report["models"][SONNET]["calls"] >= 11
    assert report["best_seconds"] < 8e-3


def test_the_independent_control_never_shows_another_kernel(
    make_search: MakeSearch, server: FakeClaude
) -> None:
    server.responder = Author()
    written = make_search(plan=Plan(policy=Policy.RANDOM, slots=2, islands=1))
    written.search.run(5)
    assert {purpose(body) for body in server.bodies} == {"form", "translate"}
    writing = [body for body in server.bodies if purpose(body) == "translate"]
    assert all("<text-" not in body["messages"][0]["content"][0]["text"] for body in writing)
