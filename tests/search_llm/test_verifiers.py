"""Verifiers in a search: asked, heard once more, counted, and obeyed only on their record."""

from typing import Any

import pytest

from leaderboard.search.llm.book import Book
from leaderboard.search.llm.journal import MemoryJournal
from leaderboard.search.llm.votes import Verifier
from tests.fake_claude import FakeClaude, Reply, answer, refusal
from tests.search_llm.conftest import HAIKU, MakeSearch, code, kernel, purpose, vote


class Reader:
    """Writes kernels, every second of which does not compile; the compile verifier is asked about each."""

    def __init__(self, *, takes_back: bool = False) -> None:
        self.count = 0
        self.takes_back = takes_back

    def __call__(self, body: dict[str, Any]) -> Reply:
        kind = purpose(body)
        if kind == "form":
            return answer({"steps": [], "ideas": []})
        if kind == "judge":
            text = body["messages"][0]["content"][0]["text"]
            if "does not compile" not in text:
                return refusal() if "out of bounds" in text else vote(False)
            again = "A first reader says" in text
            return vote("does_not_compile" in text and not (again and self.takes_back))
        self.count += 1
        broken = "does_not_compile" if self.count % 2 else ""
        return code(kernel(f"k{self.count}", self.count, broken=broken))


def test_votes_are_kept_with_the_kernel_and_judged_by_outcomes(
    make_search: MakeSearch, server: FakeClaude, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.responder = Reader()
    # Edits would need a reader of their own; whole kernels are all that this server writes.
    monkeypatch.setattr("leaderboard.search.llm.moves._WEIGHTS", {"rewrite": 1.0})
    written = make_search(verify=HAIKU)
    written.search.run(5)
    report = written.report()
    verifiers = report["verifiers"]
    assert verifiers["compile"] == {"warned": 2, "precision": 1.0, "recall": 1.0}
    assert verifiers["memory"] == {"warned": 0, "precision": None, "recall": None}  # it never answered
    book = Book(written.generator.journal)
    digest = next(iter(book.kernels()))
    votes = {item.verifier: item for item in book.votes_on(digest)}
    assert votes.keys() == {Verifier.COMPILE, Verifier.NUMERICS}
    assert votes[Verifier.COMPILE].fails
    assert votes[Verifier.COMPILE].reason == "Line 4."
    # Advice so far: what was warned of was measured all the same.
    assert [row["verdict"] for row in report["measurements"]].count("compile_error") == 2


def test_a_reflection_may_take_the_word_back(
    make_search: MakeSearch, server: FakeClaude, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.responder = Reader(takes_back=True)
    monkeypatch.setattr("leaderboard.search.llm.moves._WEIGHTS", {"rewrite": 1.0})
    written = make_search(verify=HAIKU)
    written.search.run(3)
    assert written.report()["verifiers"]["compile"]["warned"] == 0
    book = Book(written.generator.journal)
    firsts = [item for item in book.voted.values() if item["first"]]
    assert len(firsts) == 1
    assert not firsts[0]["fails"]


def test_a_good_record_refuses_before_anything_is_measured(
    make_search: MakeSearch, server: FakeClaude, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaderboard.search.llm.moves._WEIGHTS", {"rewrite": 1.0})
    monkeypatch.setattr("leaderboard.search.llm.sitting.AUDITED", 0.0)
    server.responder = Reader()
    journal = MemoryJournal()
    written = make_search(verify=HAIKU, journal=journal)
    for number in range(40):  # a history in which the compile verifier was right each time
        digest = f"old{number}"
        journal.add(
            "voted", f"o{number}", {"digest": digest, "verifier": "compile", "fails": True, "reason": "x"}
        )
        written.search.outcomes[digest] = {"verdict": "compile_error", "reason": "x"}  # type: ignore[typeddict-item]
    written.search.run(4)
    report = written.report()
    assert report["replies_without_kernel"]["vetoed"] >= 2
    assert [row["verdict"] for row in report["measurements"]] == ["passed"] * 4
