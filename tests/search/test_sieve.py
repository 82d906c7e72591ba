"""Decisions of a generation agree with the policy that looks at one kernel, and compete where it does not."""

import math

import numpy as np
import pytest

from leaderboard.search.normal import expected_gain, p_below
from leaderboard.search.outlook import View
from leaderboard.search.plan import Plan
from leaderboard.search.sieve import Decision, sieve
from leaderboard.search.standing import unguaranteed
from surrogate.contract import bins
from surrogate.contract.forecast import Forecast
from surrogate.policy import Action, Rules, Situation, decide
from surrogate.risk import Scope

PLAN = Plan(rules=Rules(audit_rate=0.0))
BAR = unguaranteed(PLAN.rules)


def decide_all(some: View, incumbent: float, slots: int, audited: list[bool] | None = None) -> list[Decision]:
    count = len(some.mean)
    sieved = sieve(some, incumbent, slots, PLAN, audited or [False] * count, BAR)
    return [sieved.decision(place) for place in range(count)]


def view(*forecasts: tuple[float, float]) -> View:
    means, spreads = zip(*forecasts, strict=True)
    return View(np.array(means, float), np.array(spreads, float), np.ones(len(means)))


@pytest.mark.parametrize(
    ("mean", "spread"),
    [(-0.5, 0.2), (-0.1, 0.3), (0.1, 0.3), (0.4, 0.5), (1.5, 0.4), (3.0, 0.5), (-2.0, 1.0)],
)
def test_one_kernel_gets_the_policys_own_decision(mean: float, spread: float) -> None:
    # The incumbent is the anchor: a kernel of ``mean`` octaves more has a log2 speed-up of ``-mean``.
    forecast = Forecast.of(bins.normal(-mean, spread), forecaster="f", version="1")
    situation = Situation(1.0, 1.0, 100.0, Scope("f", "1", "d", "t"))
    wanted = decide(forecast, situation, PLAN.rules, draw=0.5)
    found = decide_all(view((mean, spread)), 0.0, 0)[0]
    assert found.action == wanted.action
    assert found.p_better == pytest.approx(wanted.p_better, abs=0.03)


def test_a_sure_loser_is_skipped_and_an_unsure_one_deferred() -> None:
    decisions = decide_all(view((3.0, 0.3), (0.3, 0.4), (-0.4, 0.2)), 0.0, 1)
    assert [item.action for item in decisions] == [Action.SKIP, Action.DEFER, Action.MEASURE]
    assert [item.chosen for item in decisions] == [False, False, True]


def test_an_audited_loser_is_measured() -> None:
    decisions = decide_all(view((3.0, 0.3), (-0.4, 0.2)), 0.0, 2, [True, False])
    assert [item.action for item in decisions] == [Action.AUDIT, Action.MEASURE]
    assert all(item.chosen for item in decisions)


def test_left_over_slots_go_to_the_least_unlikely() -> None:
    decisions = decide_all(view((5.0, 0.3), (3.0, 0.3)), 0.0, 1)
    assert [item.chosen for item in decisions] == [False, True]
    assert decisions[1].action == Action.DEFER


def test_before_anything_is_measured_the_fastest_looking_go_first() -> None:
    decisions = decide_all(view((1.0, 2.0), (-1.0, 2.0), (0.0, 2.0)), math.inf, 2)
    assert [item.chosen for item in decisions] == [False, True, True]


def test_of_twins_only_one_is_measured() -> None:
    """Two kernels whose times are the same number: measuring one leaves no doubt about the other."""
    covariance = np.array([[0.25, 0.25, 0.0], [0.25, 0.25, 0.0], [0.0, 0.0, 0.25]])
    twins = View(
        np.array([-0.1, -0.1, 0.1]), np.full(3, 0.5), np.ones(3), lambda index: covariance[index].copy()
    )
    decisions = decide_all(twins, 0.0, 2)
    assert [item.chosen for item in decisions].count(True) == 2
    assert decisions[2].chosen


def test_a_kernel_that_will_hardly_work_is_worth_less() -> None:
    unsure = View(np.array([-0.5, -0.4]), np.full(2, 0.2), np.array([0.05, 0.95]))
    decisions = decide_all(unsure, 0.0, 1)
    assert [item.chosen for item in decisions] == [False, True]


def test_gain_and_share_of_a_normal_distribution() -> None:
    draws = np.random.default_rng(0).normal(0.3, 0.7, 400_000)
    mean, spread = np.array([0.3]), np.array([0.7])
    assert p_below(mean, spread, 0.1)[0] == pytest.approx((draws < 0.1).mean(), abs=0.005)
    assert expected_gain(mean, spread, 0.1)[0] == pytest.approx(np.maximum(0.1 - draws, 0).mean(), abs=0.005)


def test_what_will_hardly_work_is_skipped_like_what_is_surely_slow() -> None:
    """Fast as it is forecast, it beats nothing if it fails; P(works) counts with the time."""
    some = View(np.array([-3.0, -3.0, -3.0]), np.full(3, 0.3), np.array([0.01, 0.3, 0.99]))
    sieved = sieve(some, 0.0, 1, PLAN, [False] * 3, BAR)
    decisions = [sieved.decision(place) for place in range(3)]
    assert [item.action for item in decisions] == [Action.SKIP, Action.DEFER, Action.MEASURE]
    assert [item.p_better for item in decisions] == pytest.approx([0.01, 0.3, 0.99], abs=1e-6)
    assert decisions[0].reason == (
        "It beats the best kernel so far with probability 1.0% only, as it works with probability 1%."
    )
    assert "works" not in decisions[2].reason
    audited = sieve(some, 0.0, 1, PLAN, [True, False, False], BAR)
    assert audited.decision(0).chosen, "what is skipped for P(works) is audited like any skip"
