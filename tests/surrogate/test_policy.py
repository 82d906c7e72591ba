"""What is skipped, deferred, measured and audited, and what is promised of it."""

import math
import random

import pytest

from surrogate.contract import bins
from surrogate.contract.forecast import Abstention, AbstentionReason, Forecast
from surrogate.policy import Action, Rules, Situation, decide
from surrogate.risk import (
    RiskThreshold,
    Scope,
    clopper_pearson_upper,
    guaranteed_threshold,
    one_per_group,
)

SCOPE = Scope("model", "1", "one", "sum")
NO_AUDIT = 0.999


def forecast(location: float, spread: float = 0.2, p_correct: float | None = None) -> Forecast:
    return Forecast.of(bins.normal(location, spread), forecaster="model", version="1", p_correct=p_correct)


def situation(**changes: object) -> Situation:
    values: dict[str, object] = {
        "incumbent": 1.0,
        "device_seconds": 2.0,
        "remaining_seconds": 100.0,
        "scope": SCOPE,
    }
    return Situation(**{**values, **changes})  # type: ignore[arg-type]


def threshold(score: float = 0.9, scope: Scope | None = SCOPE) -> RiskThreshold:
    return RiskThreshold(score, 0.1, 0.1, 0.08, 100, 60, 2, scope)


@pytest.mark.parametrize(
    ("location", "spread", "action"),
    [(-2.5, 0.2, Action.SKIP), (1.0, 0.2, Action.MEASURE), (-0.2, 0.5, Action.DEFER)],
)
def test_sure_losers_are_skipped_likely_winners_measured_the_rest_deferred(
    location: float, spread: float, action: Action
) -> None:
    assert decide(forecast(location, spread), situation(), Rules(), NO_AUDIT).action == action


def test_a_better_incumbent_makes_the_same_kernel_a_loser() -> None:
    one = forecast(0.5)
    assert decide(one, situation(), Rules(), NO_AUDIT).action == Action.MEASURE
    assert decide(one, situation(incumbent=4.0), Rules(), NO_AUDIT).action == Action.SKIP


def test_the_fastest_bin_is_never_skipped_for_an_incumbent_inside_it() -> None:
    """A best that is 20 times as fast as the anchor: past 8 times a forecast tells no more."""
    fastest = Forecast.of(bins.one_hot(bins.COUNT - 1), forecaster="model", version="1")
    slow = forecast(0.5)
    for incumbent in (9.0, 20.0, 1e6):
        one = situation(incumbent=incumbent, threshold=threshold(0.6))
        assert decide(fastest, one, Rules(), NO_AUDIT).action in (Action.DEFER, Action.MEASURE)
        assert decide(slow, one, Rules(), NO_AUDIT).action == Action.SKIP


def test_skips_are_audited_at_random_and_at_the_stated_rate() -> None:
    draw = random.Random(2)
    rules = Rules(audit_rate=0.2)
    actions = [decide(forecast(-2.5), situation(), rules, draw.random()).action for _ in range(2000)]
    assert set(actions) == {Action.SKIP, Action.AUDIT}
    assert actions.count(Action.AUDIT) / 2000 == pytest.approx(0.2, abs=0.03)


def test_no_forecast_means_measuring() -> None:
    silent = Abstention(AbstentionReason.TIMEOUT, "It took too long.", "model", "1")
    decision = decide(silent, situation(), Rules(), NO_AUDIT)
    assert decision.action == Action.DEFER
    assert "It took too long." in decision.reason


def test_nothing_is_measured_past_the_budget() -> None:
    decision = decide(forecast(2.0), situation(remaining_seconds=1.0), Rules(), 0.0)
    assert decision.action == Action.SKIP
    assert "budget" in decision.reason


def test_a_guaranteed_threshold_skips_more_and_says_what_it_promises() -> None:
    one = forecast(-0.45, 0.35)
    careful = decide(one, situation(), Rules(), NO_AUDIT)
    bold = decide(one, situation(threshold=threshold(0.85)), Rules(), NO_AUDIT)
    assert (careful.action, bold.action) == (Action.DEFER, Action.SKIP)
    assert "At most 10% of skipped kernels" in bold.guarantee
    assert careful.guarantee.startswith("No guarantee.")


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        (Scope("model", "2", "one", "sum"), "another version"),
        (Scope("model", "1", "two", "sum"), "another device"),
        (Scope("model", "1", "one", "scan"), "other tasks"),
        (None, "no known place"),
    ],
)
def test_a_guarantee_from_elsewhere_is_not_claimed(scope: Scope | None, said: str) -> None:
    decision = decide(forecast(-0.45, 0.35), situation(threshold=threshold(0.85, scope)), Rules(), NO_AUDIT)
    assert decision.action == Action.DEFER
    assert said in decision.guarantee


def test_probably_wrong_kernels_can_be_skipped() -> None:
    rules = Rules(least_p_correct=0.3)
    assert decide(forecast(1.0, p_correct=0.1), situation(), rules, NO_AUDIT).action == Action.SKIP
    assert decide(forecast(1.0, p_correct=0.1), situation(), Rules(), NO_AUDIT).action == Action.MEASURE


def test_rules_are_checked() -> None:
    with pytest.raises(ValueError, match="audit_rate"):
        Rules(audit_rate=-0.1)


def test_clopper_pearson_against_closed_forms() -> None:
    # No error in n: 1 − δ^(1/n). All errors: 1. One error in two: (1 − p)² + 2p(1 − p) = δ, so p = √(1 − δ).
    assert clopper_pearson_upper(0, 20, 0.05) == pytest.approx(1 - 0.05 ** (1 / 20))
    assert clopper_pearson_upper(20, 20, 0.05) == 1.0
    assert clopper_pearson_upper(1, 2, 0.1) == pytest.approx(math.sqrt(0.9))
    with pytest.raises(ValueError, match="no bound"):
        clopper_pearson_upper(3, 2, 0.1)


def test_a_threshold_covers_the_clean_part_only() -> None:
    scores = [1 - index / 200 for index in range(200)]
    wrong = [index >= 120 for index in range(200)]
    found = guaranteed_threshold(scores, wrong, risk=0.05, scope=SCOPE)
    assert found is not None
    assert 100 <= found.covered <= 125
    assert found.bound <= 0.05
    assert guaranteed_threshold(scores[:10], wrong[:10], risk=0.05) is None
    assert guaranteed_threshold(scores, [True] * 200, risk=0.05) is None
    assert guaranteed_threshold([], [], risk=0.05) is None


def test_equal_scores_are_never_cut_apart() -> None:
    found = guaranteed_threshold([0.9] * 100 + [0.5] * 100, [False] * 100 + [True] * 100, risk=0.1)
    assert found is not None
    assert (found.score, found.covered) == (0.9, 100)


def test_the_promise_is_kept_over_many_draws() -> None:
    """Risk 0.1 with δ = 0.1: the true risk above the threshold may exceed 0.1 in at most a tenth of draws."""
    draw = random.Random(4)
    broken = 0
    for _ in range(60):
        scores = [draw.random() for _ in range(120)]
        wrong = [draw.random() < 0.5 * (1 - score) for score in scores]
        found = guaranteed_threshold(scores, wrong, risk=0.1)
        if found:
            # Errors above a threshold s happen at the mean of ½(1 − score) over [s, 1]: a quarter of 1 − s.
            broken += (1 - found.score) / 4 > 0.1
    assert broken / 60 <= 0.1


def test_one_case_of_each_group() -> None:
    chosen = one_per_group(["a", "a", "b", "a", "c"], random.Random(0))
    assert len(chosen) == 3
    assert {"aabac"[index] for index in chosen} == {"a", "b", "c"}
