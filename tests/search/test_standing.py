"""What earlier searches taught of the forecasts: skips with a guarantee, and doubt as it should have been."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from leaderboard.search.gaussian_outlook import GaussianOutlook
from leaderboard.search.grid import Grid
from leaderboard.search.models import SearchEvent, SearchRun
from leaderboard.search.outlook import View
from leaderboard.search.plan import Plan, Policy
from leaderboard.search.selectors.records import record_of
from leaderboard.search.selectors.standings import _cases, standing_kept
from leaderboard.search.services.stepping import Stepper
from leaderboard.search.sieve import sieve
from leaderboard.search.standing import Case, Standing, standing_of, unguaranteed
from runners.models import Device, Runner
from surrogate.calibration import MINIMUM
from surrogate.policy import DELTA, RISK, Action, Rules
from surrogate.risk import Scope, least_cases
from tests.search.conftest import claimed, finish, measure_all

RULES = Rules()
OUTLOOK = GaussianOutlook(Grid({"block": (1, 2)}))
SCOPE = Scope(OUTLOOK.name, OUTLOOK.version, "cpu-test", "softmax")
ENOUGH = least_cases(RISK, DELTA)


def losers(count: int, *, score: float = 0.9, wrong: int = 0, off: float = 0.0) -> list[Case]:
    return [Case(f"kernel {place}", score + place * 1e-4, place < wrong, off) for place in range(count)]


def test_enough_kernels_that_lost_as_forecast_let_more_be_skipped() -> None:
    standing = standing_of(SCOPE, losers(ENOUGH), RULES)
    bar = standing.bar(RULES, OUTLOOK)
    assert bar.is_guaranteed
    assert bar.score == pytest.approx(0.9)
    assert f"like the {ENOUGH} held out" in bar.promise
    some = View(np.array([1.0, -1.0]), np.full(2, 0.7), np.ones(2))
    plan = Plan(rules=RULES)
    for given, action in ((unguaranteed(RULES), Action.DEFER), (bar, Action.SKIP)):
        decision = sieve(some, 0.0, 1, plan, [False] * 2, given).decision(0)
        assert (decision.action, decision.is_guaranteed) == (action, action == Action.SKIP)
    audit = sieve(some, 0.0, 1, plan, [True, False], bar).decision(0)
    assert (audit.action, audit.is_guaranteed, audit.chosen) == (Action.AUDIT, True, True)


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        (losers(ENOUGH - 1), f"Earlier searches measured {ENOUGH - 1} kernels"),
        (losers(ENOUGH) + losers(5), ""),
        (losers(ENOUGH - 5) + losers(20), f"measured {ENOUGH - 5} kernels"),  # the same ones again
        (losers(ENOUGH, score=0.4), "measured 0 kernels"),  # who is likely to win is never skipped
        (losers(2 * ENOUGH, wrong=ENOUGH), "Too many of"),
    ],
)
def test_without_proof_nothing_is_promised(cases: list[Case], said: str) -> None:
    standing = standing_of(SCOPE, cases, RULES)
    bar = standing.bar(RULES, OUTLOOK)
    assert bar.is_guaranteed == (said == "")
    assert said in bar.promise
    if said:
        assert bar.promise.startswith("No guarantee.")
        assert bar.score == 1 - RULES.unguaranteed_skip


def test_what_was_proved_of_another_version_is_not_claimed() -> None:
    class Newer:
        name, version, look = OUTLOOK.name, "next", OUTLOOK.look

    bar = standing_of(SCOPE, losers(ENOUGH), RULES).bar(RULES, Newer())
    assert not bar.is_guaranteed
    assert "another version" in bar.promise


def test_doubt_is_made_as_wide_as_the_outcomes_were_off() -> None:
    wide = standing_of(SCOPE, losers(400, off=2.0), RULES)
    assert wide.temperature == pytest.approx(4, rel=0.1)
    assert "2.0" in wide.calibration or "1.9" in wide.calibration
    narrow = standing_of(SCOPE, losers(400, off=0.5), RULES)
    assert narrow.temperature == pytest.approx(0.25, rel=0.1)
    few = standing_of(SCOPE, losers(MINIMUM - 1, off=2.0), RULES)
    assert few.temperature == 1.0
    # One that hung for minutes.
    hung = standing_of(SCOPE, [*losers(400, off=1.0), Case("hung", 0.9, False, 1000.0)], RULES)
    assert hung.temperature < 1.2
    some = View(np.zeros(2), np.ones(2), np.ones(2), lambda _: np.array([1.0, 0.5]), 0.1)
    tempered = some.tempered(4.0)
    assert tempered.spread.tolist() == [2.0, 2.0]
    assert tempered.covariance is not None
    assert tempered.covariance(0).tolist() == [4.0, 2.0]
    # Measuring one of two leaves the same share of doubt about the other.
    assert tempered.believing(0).spread[1] == pytest.approx(2 * some.believing(0).spread[1])


def test_a_standing_survives_the_log() -> None:
    for standing in (standing_of(SCOPE, losers(ENOUGH, off=1.5), RULES), standing_of(SCOPE, [], RULES)):
        assert Standing.from_document(standing.to_document()) == standing


def test_a_run_goes_by_the_runs_before_it_and_says_so(
    client: Client, start: Callable[..., SearchRun], runner: Runner, device: Device
) -> None:
    first = start(measurements=24)
    stepper = Stepper(first)
    while stepper.step():
        measure_all(runner, device)
    kept = standing_kept(first)
    assert kept is not None
    assert (kept.scope, kept.threshold, kept.outcomes) == (SCOPE, None, 0), "judged by its own outcomes"
    later = standing_kept(start())
    assert later is not None
    told = [item for item in record_of(first).judged if item.number]
    assert later.outcomes == len(told) > 10
    record = record_of(first)
    assert record.promise.startswith("No guarantee. Earlier searches measured 0 kernels")
    assert "as stated" in record.calibration
    client.force_login(first.user)
    page = client.get(reverse("search-record", args=[first.pk])).content.decode()
    assert record.promise in page
    assert record.calibration in page
    assert standing_kept(start(plan=Plan(policy=Policy.NONE))) is None


def test_top_k_promises_nothing_of_what_it_leaves_out(
    client: Client,
    start: Callable[..., SearchRun],
    runner: Runner,
    device: Device,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A record that would guarantee skips: those of top k are no such skips."""
    known = standing_of(SCOPE, losers(ENOUGH, off=1.0), RULES)
    monkeypatch.setattr("leaderboard.search.services.runs.standing_at", lambda *_: known)
    pages = {}
    for policy in (Policy.SURROGATE, Policy.TOPK):
        run = start(measurements=6, plan=Plan(slots=3, multiple=4, policy=policy), is_public=True)
        stepper = Stepper(run)
        while stepper.step():
            measure_all(runner, device)
        pages[policy] = client.get(reverse("search-record", args=[run.pk])).content.decode()
        pages[policy] += client.get(reverse("search-table", args=[run.pk])).content.decode()
    promise = known.bar(RULES).promise
    assert "confidence" in promise
    assert promise in pages[Policy.SURROGATE]
    assert promise not in pages[Policy.TOPK]
    assert known.calibration in pages[Policy.TOPK]
    assert "forecast to lose" in pages[Policy.SURROGATE]
    assert "forecast to lose" not in pages[Policy.TOPK]


def test_what_many_runs_taught_is_asked_in_as_many_queries_as_of_one(
    start: Callable[..., SearchRun],
    runner: Runner,
    device: Device,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    temperatures = {}
    for _ in range(3):
        run = start(measurements=5)
        stepper = Stepper(run)
        while stepper.step():
            measure_all(runner, device)
        temperatures[run.pk] = 1.0
        with django_assert_num_queries(3):
            cases = _cases(temperatures)
    assert len(cases) == sum(len(_cases({run: 1.0})) for run in temperatures) > 0


def test_kernels_are_judged_against_the_best_that_was_known_when_they_were_decided(
    start: Callable[..., SearchRun], runner: Runner, device: Device
) -> None:
    """Two of one generation may both beat what was known, whichever was measured first."""
    run = start(measurements=8)
    stepper = Stepper(run)
    times = iter([1.0, 0.5, 0.6, 2.0, 0.4, 0.45, 0.7, 0.3])
    while stepper.step():
        for evaluation in claimed(runner, device):
            finish(evaluation, seconds=next(times))
    rows = list(run.candidates.exclude(seconds=None).order_by("pk"))
    to_beat: dict[str, float] = {}
    best = math.inf
    for event in run.events.order_by("seq"):
        if event.kind == SearchEvent.Kind.GENERATION:
            chosen = [item for item in event.document["new"] if item["decision"]["chosen"]]
            waiting = [key for key, item in event.document["changed"].items() if item["chosen"]]
            to_beat |= dict.fromkeys([item["digest"] for item in chosen] + waiting, best)
        elif event.kind == SearchEvent.Kind.MEASURED:
            best = min(best, 2 ** event.document["log2_seconds"])
    wanted = {row.digest: row.seconds < to_beat[row.digest] for row in rows if row.p_better is not None}
    assert sum(wanted.values()) > 2
    assert {case.digest: case.is_wrong for case in _cases({run.pk: 1.0})} == wanted
