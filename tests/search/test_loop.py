"""The pure loop: what is proposed, decided and measured, for each policy."""

import math
from dataclasses import replace
from random import Random

import pytest

from leaderboard.search import loop
from leaderboard.search.gaussian_outlook import GaussianOutlook
from leaderboard.search.generators.base import Ask, Generator, GeneratorSpent, Operator, Proposal
from leaderboard.search.generators.recorded import RecordedGenerator
from leaderboard.search.kinds import MEANINGS, Kind
from leaderboard.search.plan import MOST_MULTIPLE, MOST_WAITING, Plan, Policy
from leaderboard.search.replay import Arena
from leaderboard.search.state import SearchState
from surrogate.contract.request import KernelText
from surrogate.policy import Action, Rules
from tests.search.spaces import made_up

POOL = made_up("new")
OTHERS = [made_up("one", best_block=128), made_up("two", seed=1), made_up("three", best_block=32)]


@pytest.mark.parametrize("policy", list(Policy))
def test_equal_seeds_give_equal_searches(policy: Policy) -> None:
    arena = Arena(POOL, OTHERS)
    plan = Plan(policy=policy, seed=3, multiple=4)
    assert arena.run(plan, 24).seconds == arena.run(plan, 24).seconds
    assert arena.run(replace(plan, seed=4), 24).seconds != arena.run(plan, 24).seconds


@pytest.mark.parametrize("policy", list(Policy))
def test_nothing_is_measured_twice_and_the_budget_is_kept(policy: Policy) -> None:
    state = SearchState(2, 5)
    plan = Plan(policy=policy, slots=3, multiple=3)
    generator = RecordedGenerator(POOL)
    outlook = GaussianOutlook(POOL.grid, [item.seconds for item in OTHERS])
    measured: list[str] = []
    while len(measured) < 25:
        generation = loop.step(state, generator, outlook, plan, slots=25 - len(measured))
        state.consider(generation)
        assert 0 < len(generation.chosen) <= 3
        for digest in generation.chosen:
            seconds = POOL.outcome(state.candidates[digest].proposal)
            state.measure(digest, None if seconds is None else math.log2(seconds))
            measured.append(digest)
    assert len(set(measured)) == len(measured) == 25
    assert len(state.candidates) == (75 if policy.asks_surrogate else 25)


def test_a_search_that_has_seen_everything_ends() -> None:
    arena = Arena(POOL, OTHERS)
    found = arena.run(Plan(slots=8), 1000)
    assert len(found.seconds) == len(POOL.seconds)
    assert min(item for item in found.seconds if item is not None) == POOL.times[0]


def test_the_history_leads_to_the_best_at_once_where_it_tells_the_truth() -> None:
    arena = Arena(POOL, [made_up("twin", noise=0.0), made_up("other", noise=0.0)])
    found = arena.run(Plan(multiple=MOST_MULTIPLE, islands=1), 8)
    assert min(item for item in found.seconds if item is not None) <= POOL.times[0] * 1.05


def test_a_search_recovers_where_the_history_misleads() -> None:
    liars = [
        made_up("liar", best_block=256, shared="b"),
        made_up("another", best_block=256, shared="b", seed=1),
    ]
    arena = Arena(made_up("new", best_block=16), liars)
    found = arena.run(Plan(multiple=MOST_MULTIPLE, islands=1), 40)
    assert min(item for item in found.seconds if item is not None) <= arena.pool.times[0] * 1.1


def test_audits_are_a_share_of_the_measurements() -> None:
    rules = Rules(audit_rate=0.25)
    arena = Arena(POOL, OTHERS)
    audits = [arena.run(Plan(seed=seed, multiple=4, rules=rules), 40).audits for seed in range(6)]
    # A share of 0.25 of 40, drawn among the skipped only.
    assert 2 <= sum(audits) / len(audits) <= 12
    assert arena.run(Plan(multiple=4, rules=Rules(audit_rate=0.0)), 40).audits == 0


def test_skipped_candidates_wait_and_are_looked_at_again() -> None:
    state = SearchState(1, 5)
    plan = Plan(slots=2, multiple=8, islands=1, rules=Rules(audit_rate=0.0))
    generator = RecordedGenerator(POOL)
    outlook = GaussianOutlook(POOL.grid, [item.seconds for item in OTHERS])
    for _ in range(4):
        generation = loop.step(state, generator, outlook, plan)
        state.consider(generation)
        for digest in generation.chosen:
            seconds = POOL.outcome(state.candidates[digest].proposal)
            state.measure(digest, None if seconds is None else math.log2(seconds))
    skipped = [item for item in state.candidates.values() if item.decision.action == Action.SKIP]
    assert skipped
    assert {item.proposal.digest for item in skipped} <= set(state.waiting)


def test_of_too_many_that_wait_the_newest_are_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """It bounds what a step takes, and pages say so."""
    monkeypatch.setattr(loop, "MOST_WAITING", 4)
    state, plan = SearchState(1, 5), Plan(policy=Policy.TOPK, slots=2, multiple=8, islands=1)
    generator, outlook = RecordedGenerator(POOL), GaussianOutlook(POOL.grid, [OTHERS[0].seconds])
    for _ in range(2):
        waiting = state.waiting
        generation = loop.step(state, generator, outlook, plan)
        assert set(generation.changed) <= set(waiting[-4:])
        state.consider(generation)
        for digest in generation.chosen:
            state.measure(digest, None)
    assert len(state.waiting) == 28
    # Nothing new: the best of the newest four are measured, however good the others look.
    last = loop.step(state, Paid(RecordedGenerator(POOL), 0), outlook, plan)
    assert set(last.chosen) <= set(state.waiting[-4:])
    assert f"newest {MOST_WAITING:,}" in MEANINGS[Kind.SKIPPED]


def test_a_dropped_candidate_is_neither_measured_nor_proposed_again() -> None:
    state = SearchState(1, 5)
    plan = Plan(policy=Policy.NONE, slots=2, islands=1)
    generator = RecordedGenerator(POOL)
    first = loop.step(state, generator, None, plan)
    state.consider(first)
    for digest in first.chosen:
        state.drop(digest)
    second = loop.step(state, generator, None, plan)
    assert not set(first.chosen) & set(second.chosen)
    assert state.outcomes == {}


@pytest.mark.parametrize("stopped", [False, True])
def test_an_opening_that_was_lost_is_measured_once_more_and_no_more(stopped: bool) -> None:
    kernel = KernelText("cpp", "void starter() {}")
    state = SearchState(2, 5)
    state.consider(loop.opening(Proposal("starter", kernel, Operator.START)))
    state.drop("starter", lost=True)
    plan, generator = Plan(policy=Policy.NONE, slots=2), RecordedGenerator(POOL)
    again = loop.step(state, generator, None, plan)
    assert (again.number, again.new, again.chosen) == (1, (), ["starter"])
    state.consider(again)
    assert (state.in_flight, state.dropped) == ({"starter"}, set())
    state.drop("starter", lost=not stopped)  # stopped by a person, who did not ask for another
    after = loop.step(state, generator, None, plan)
    assert len(after.new) == 2
    assert "starter" not in after.chosen


def test_what_comes_after_an_opening_is_not_measured_again_when_it_is_lost() -> None:
    state = SearchState(1, 5)
    plan, generator = Plan(policy=Policy.NONE, slots=2, islands=1), RecordedGenerator(POOL)
    first = loop.step(state, generator, None, plan)
    state.consider(first)
    for digest in first.chosen:
        state.drop(digest, lost=True)
    assert not set(first.chosen) & set(loop.step(state, generator, None, plan).chosen)


@pytest.mark.parametrize("name", ["slots", "multiple", "islands", "migrate_every"])
def test_a_plan_refuses_nonsense(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be between"):
        Plan(**{name: 0})  # type: ignore[arg-type]


class Paid:
    """Proposes as ``inner`` does, as often as there is money for."""

    name = "paid"

    def __init__(self, inner: Generator, times: int) -> None:
        self._inner, self._left = inner, times

    def propose(self, ask: Ask, random: Random) -> list[Proposal]:
        if self._left == 0:
            raise GeneratorSpent("The money is used up.")
        self._left -= 1
        return self._inner.propose(ask, random)


@pytest.mark.parametrize("policy", [Policy.SURROGATE, Policy.TOPK])
def test_what_was_paid_for_is_measured_before_a_search_ends(policy: Policy) -> None:
    """With twice as many considered as measured, half of the last generation waits when the money ends."""
    state, plan = SearchState(1, 5), Plan(policy=policy, slots=4, multiple=2, islands=1)
    outlook = GaussianOutlook(POOL.grid, [item.seconds for item in OTHERS])
    generator = Paid(RecordedGenerator(POOL), 2)
    for _ in range(4):
        generation = loop.step(state, generator, outlook, plan)
        state.consider(generation)
        assert len(generation.chosen) == 4
        for digest in generation.chosen:
            seconds = POOL.outcome(state.candidates[digest].proposal)
            state.measure(digest, None if seconds is None else math.log2(seconds))
    assert len(state.outcomes) == len(state.candidates) == 16
    with pytest.raises(GeneratorSpent, match="money is used up"):
        loop.step(state, generator, outlook, plan)
