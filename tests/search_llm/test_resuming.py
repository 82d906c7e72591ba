"""A search that goes on from its journal: after the engine failed, and in no other search."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leaderboard.catalog.loader import CATALOG, load
from leaderboard.search.llm import prompts
from leaderboard.search.llm.arms import parse_arms
from leaderboard.search.llm.journal import FileJournal
from leaderboard.search.llm.local import identity_of
from leaderboard.search.llm.outcomes import read_outcome
from leaderboard.search.local import SearchStopped
from leaderboard.search.plan import Plan, Policy
from runners.contract.result import ResultDocument
from runners.contract.vocabulary import Language, Mode, Verdict
from surrogate.contract.request import KernelText
from tests.fake_claude import FakeClaude, refusal
from tests.search_llm.conftest import (
    DEVICE,
    HAIKU,
    SONNET,
    STARTER,
    TASK,
    MakeSearch,
    document,
    measure,
    purpose,
)
from tests.search_llm.test_search import FORM, Author


def test_a_search_that_paused_for_want_of_kernels_asks_on_when_it_is_resumed(
    make_search: MakeSearch, server: FakeClaude, journal_file: Path
) -> None:
    server.responder = lambda body: FORM if purpose(body) == "form" else refusal()
    with pytest.raises(SearchStopped, match="None of 3 answers gave a new kernel"):
        make_search(journal=FileJournal(journal_file, {})).search.run(3)
    refused = len(server.requests)
    server.responder = Author()
    resumed = make_search(journal=FileJournal(journal_file, {}))
    resumed.search.run(3)
    assert resumed.report()["measured"] == 3
    paid = len(server.requests)
    assert paid > refused
    # Whoever replays all of it comes by the same refusals and the same kernels, and asks nothing.
    replayed = make_search(journal=FileJournal(journal_file, {}))
    replayed.search.run(3)
    assert replayed.report() == resumed.report()
    assert len(server.requests) == paid


def full_disk(kernel: KernelText) -> ResultDocument:
    if kernel.source == STARTER:
        return measure(kernel)
    return document(Verdict.INTERNAL_ERROR, reason="disk full")


def test_after_the_engine_failed_the_kernels_that_were_paid_for_are_measured(
    make_search: MakeSearch, server: FakeClaude, journal_file: Path
) -> None:
    server.responder = Author()
    broken = make_search(journal=FileJournal(journal_file, {}), measure=full_disk)
    with pytest.raises(SearchStopped, match="failed 3 times: disk full"):
        broken.search.run(6)
    assert broken.report()["measured"] == 1
    written = [body for body in server.bodies if purpose(body) not in ("form", "judge")]
    assert len(written) == 3
    repaired = make_search(journal=FileJournal(journal_file, {}))
    repaired.search.run(4)
    assert repaired.report()["measured"] == 4
    assert [body for body in server.bodies if purpose(body) not in ("form", "judge")] == written
    # A full disk is no fault of a kernel's, which a model could repair.
    assert "repair" not in {purpose(body) for body in server.bodies}


def test_a_failure_that_was_journaled_as_an_outcome_is_none(
    make_search: MakeSearch, server: FakeClaude, journal_file: Path
) -> None:
    """Journals of before hold them."""
    server.responder = Author()
    make_search(journal=FileJournal(journal_file, {})).search.run(3)
    journal_file.write_text(
        journal_file.read_text().replace('"verdict": "passed"', '"verdict": "internal_error"')
    )
    again = make_search(journal=FileJournal(journal_file, {}))
    again.search.run(3)
    assert [row["verdict"] for row in again.report()["measurements"]] == ["passed"] * 3


def test_failures_of_ours_with_outcomes_between_them_do_not_stop_a_search(
    make_search: MakeSearch, server: FakeClaude
) -> None:
    server.responder = Author()
    calls: list[str] = []

    def flaky(kernel: KernelText) -> ResultDocument:
        calls.append(kernel.source)
        return full_disk(kernel) if len(calls) % 2 == 0 else measure(kernel)

    search = make_search(measure=flaky)
    search.search.run(5)
    assert (search.report()["measured"], len(search.search.state.dropped)) == (5, 4)


@pytest.mark.parametrize("names", [("tests",), ("tests", "output", "benchmarks")])
def test_an_outcome_is_read_without_what_its_document_lacks(names: tuple[str, ...]) -> None:
    lacking: dict[str, Any] = {"verdict": "wrong", "reason": "Output y differs.", **dict.fromkeys(names)}
    assert read_outcome(lacking).error == "Output y differs."


SEARCH: dict[str, Any] = {
    "task": TASK,
    "language": Language.CPP,
    "device": DEVICE,
    "mode": Mode.BENCHMARK,
    "plan": Plan(),
    "arms": parse_arms(f"{SONNET}:high"),
    "verify": None,
}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"task": load(CATALOG / "sum")}, "task is 'softmax' there"),
        ({"language": Language.PYTHON}, "language is 'cpp' there"),
        ({"device": replace(DEVICE, slug="cpu-other")}, "device is 'cpu-test' there"),
        ({"mode": Mode.RANKED}, "mode is 'benchmark' there"),
        ({"plan": Plan(policy=Policy.RANDOM)}, "policy is 'surrogate' there"),
        ({"plan": Plan(seed=1)}, "seed is 0 there"),
        ({"plan": Plan(slots=2)}, "slots is 4 there"),
        ({"arms": parse_arms(f"{SONNET}:low")}, f"models is '{SONNET}:high' there"),
        ({"verify": parse_arms(HAIKU)[0]}, "verifiers is 'none' there"),
    ],
)
def test_a_journal_is_of_one_search(changed: dict[str, Any], said: str, journal_file: Path) -> None:
    FileJournal(journal_file, identity_of(**SEARCH))
    FileJournal(journal_file, identity_of(**SEARCH))  # the same once more
    with pytest.raises(ValueError, match=re.escape(said)):
        FileJournal(journal_file, identity_of(**{**SEARCH, **changed}))


def test_a_journal_goes_on_only_in_the_words_that_it_was_begun_in(
    journal_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    FileJournal(journal_file, identity_of(**SEARCH))
    monkeypatch.setattr(prompts, "VERSION", "another")
    with pytest.raises(ValueError, match="prompts is"):
        FileJournal(journal_file, identity_of(**SEARCH))
