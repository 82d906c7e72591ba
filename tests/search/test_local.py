"""A search with the engine's place taken by a function: what is counted, reported and given up."""

from typing import Any

import pytest

from leaderboard.catalog.loader import CATALOG, load
from leaderboard.search.generators.template import load_templates
from leaderboard.search.local import LocalSearch, SearchStopped
from leaderboard.search.plan import Plan, Policy
from runners.contract.result import ResultDocument
from runners.contract.vocabulary import Verdict
from surrogate.contract.request import KernelText

TASK = load(CATALOG / "softmax")
TEMPLATE = load_templates("softmax")["cpp"]


def document(verdict: Verdict, seconds: float | None = None) -> ResultDocument:
    score = None if seconds is None else {"seconds": seconds, "ci_low": seconds, "ci_high": seconds}
    found: Any = {"verdict": verdict, "reason": "So it is.", "score": score, "device_seconds": 2.0}
    return found  # type: ignore[no-any-return]


def measure(kernel: KernelText) -> ResultDocument:
    """Threads and lanes help, a polynomial of degree four is wrong."""
    values = kernel.parameters
    if not values:
        return document(Verdict.PASSED, 8e-3)
    if values["exponential"] == "poly4":
        return document(Verdict.WRONG)
    seconds = 8e-3 / (1 + (values["threads"] != "serial")) / (1 + (values["exponential"] != "library"))
    return document(Verdict.PASSED, seconds / (1 + 0.1 * float(values["lanes"]) ** 0.5))


def test_the_starter_is_measured_first_and_beaten() -> None:
    search = LocalSearch(TASK, TEMPLATE, Plan(multiple=16, seed=1), measure)
    search.run(24)
    report = search.report()
    assert report["measured"] == 24
    assert report["measurements"][0]["parameters"] == {}
    assert report["starter_seconds"] == 8e-3
    assert report["speed_up"] > 5  # the best there is stands at 7.2
    assert report["best_seconds"] == pytest.approx(
        min(row["seconds"] for row in search.rows if row["seconds"])
    )
    assert report["stop_reason"] == "The measurements are used up."
    assert "{{" not in report["best_source"]


def test_no_evaluation_begins_once_the_device_seconds_are_used() -> None:
    search = LocalSearch(TASK, TEMPLATE, Plan(), measure)
    search.run(100, device_seconds=11.0)
    assert len(search.rows) == 6
    assert search.stop_reason == "The device seconds are used up."


@pytest.mark.parametrize("policy", [Policy.SURROGATE, Policy.NONE])
def test_a_shorter_search_is_the_beginning_of_a_longer_one(policy: Policy) -> None:
    """What tests/gpu/search_pairs.py rests on."""
    rows = {}
    for seconds in (21.0, 61.0):
        search = LocalSearch(TASK, TEMPLATE, Plan(policy, seed=2, multiple=16), measure)
        search.run(100, device_seconds=seconds)
        rows[seconds] = search.rows
    assert (len(rows[21.0]), len(rows[61.0])) == (11, 31)
    assert rows[61.0][:11] == rows[21.0]


def test_an_engine_that_fails_again_and_again_ends_the_search() -> None:
    def broken(kernel: KernelText) -> ResultDocument:
        return measure(kernel) if not kernel.parameters else document(Verdict.INTERNAL_ERROR)

    search = LocalSearch(TASK, TEMPLATE, Plan(), broken)
    with pytest.raises(SearchStopped, match="failed 3 times: So it is"):
        search.run(20)
    assert len(search.rows) == 1
    assert search.report()["best_seconds"] == pytest.approx(8e-3)


def test_a_starter_that_the_engine_lost_is_measured_once_more() -> None:
    lost = iter([document(Verdict.INTERNAL_ERROR)])
    search = LocalSearch(TASK, TEMPLATE, Plan(), lambda kernel: next(lost, None) or measure(kernel))
    search.run(5)
    report = search.report()
    assert (report["measured"], report["starter_seconds"]) == (5, 8e-3)
    assert report["measurements"][0]["parameters"] == {}
    assert report["speed_up"] >= 1


def test_a_search_in_which_nothing_works_says_so() -> None:
    search = LocalSearch(TASK, TEMPLATE, Plan(), lambda _: document(Verdict.COMPILE_ERROR))
    search.run(6)
    report = search.report()
    assert (report["measured"], report["best_seconds"], report["speed_up"]) == (6, None, None)
