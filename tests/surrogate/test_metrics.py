"""Metrics against values worked out by hand."""

import math

import numpy as np
import pytest

from surrogate.contract import bins
from surrogate.metrics.forecast import (
    brier_half,
    crps,
    expected_calibration_error,
    forecast_metrics,
    nll,
    reliability,
)
from surrogate.metrics.ranking import against_anchor, kendall, spearman, within_set
from surrogate.metrics.search import (
    best_so_far,
    found_over_best,
    measurements_of,
    measurements_to_within,
)
from surrogate.metrics.selective import (
    augrc,
    aurc,
    auroc,
    risk_at,
    risk_coverage,
    selective_metrics,
    set_regret,
)


def masses(**by_letter: float) -> list[float]:
    return [by_letter.get(letter, 0.0) for letter in bins.LETTERS]


def test_distribution_scores_of_one_row() -> None:
    row = np.array([masses(G=0.2, H=0.5, J=0.3)])
    truth = np.array([bins.index_of("H")])
    # Cumulative 0.2 up to G, 0.7 at H and I, 1 from J; the truth steps at H: 0.2² + 0.3² + 0.3² over 13 gaps.
    assert crps(row, truth)[0] == pytest.approx((0.04 + 0.09 + 0.09) / 13)
    assert brier_half(row, truth)[0] == pytest.approx((0.04 + 0.25 + 0.09) / 2)
    assert nll(row, truth)[0] == pytest.approx(math.log(2))


def test_the_worst_forecast_scores_one() -> None:
    row = np.array([bins.one_hot(0)])
    assert crps(row, np.array([bins.COUNT - 1]))[0] == 1.0
    assert brier_half(row, np.array([1]))[0] == 1.0
    assert math.isfinite(nll(row, np.array([1]))[0])


def test_bin_shares_and_the_error_of_the_mean() -> None:
    hit, near, far = bins.index_of("H"), bins.index_of("I"), bins.index_of("N")
    metrics = forecast_metrics([bins.one_hot(hit)] * 3, [bins.midpoint(item) for item in (hit, near, far)])
    assert metrics["exact_bin"] == pytest.approx(1 / 3)
    assert metrics["within_one_bin"] == pytest.approx(2 / 3)
    # Midpoints 0.125, 0.375 and 3.5 against a mean of 0.125; the raw value counts, not the bin.
    assert metrics["mae_log2"] == pytest.approx((0 + 0.25 + 3.375) / 3)


def test_calibration_error_with_two_groups() -> None:
    # Confidence 0.9 is right in 3 of 4 rows, 0.5 in 1 of 4: |0.75 − 0.9| / 2 + |0.25 − 0.5| / 2.
    confidence = np.array([0.9] * 4 + [0.5] * 4)
    hit = np.array([1, 1, 1, 0, 1, 0, 0, 0])
    assert expected_calibration_error(confidence, hit) == pytest.approx(0.2)
    assert reliability(confidence, hit) == [(0.5, 0.25, 0.5), (0.9, 0.75, 0.5)]


def test_calibration_error_ignores_the_order_of_rows() -> None:
    generator = np.random.default_rng(5)
    confidence = generator.choice([0.2, 0.4, 0.4, 0.6], 200)
    hit = generator.random(200) < confidence
    order = generator.permutation(200)
    assert expected_calibration_error(confidence[order], hit[order]) == pytest.approx(
        expected_calibration_error(confidence, hit)
    )


def test_auroc_counts_pairs_and_halves_ties() -> None:
    # Right: 0.9, 0.6; wrong: 0.6, 0.2. Pairs: > , >, =, > → 3.5 of 4.
    assert auroc([0.9, 0.6, 0.6, 0.2], [True, True, False, False]) == pytest.approx(0.875)
    assert auroc([0.9, 0.6], [True, True]) is None


def test_risk_coverage_areas() -> None:
    confidence, losses = [0.9, 0.8, 0.7, 0.6], [0.0, 1.0, 0.0, 1.0]
    coverage, risk = risk_coverage(confidence, losses)
    assert list(coverage) == [0.25, 0.5, 0.75, 1.0]
    assert list(risk) == pytest.approx([0, 1 / 2, 1 / 3, 1 / 2])
    # Trapezoids of width 1/4 over 0, 0, 1/2, 1/3, 1/2.
    assert aurc(confidence, losses) == pytest.approx((0 + 0.25 + 5 / 12 + 5 / 12) / 4)
    # Generalised risk 0, 0, 1/4, 1/4, 1/2.
    assert augrc(confidence, losses) == pytest.approx((0 + 0.125 + 0.25 + 0.375) / 4)
    assert risk_at(confidence, losses, 0.5) == 0.5
    # The best order has risks 0, 0, 1/3, 1/2.
    best = (0 + 0 + 1 / 6 + 5 / 12) / 4
    assert selective_metrics(confidence, losses)["e_aurc"] == pytest.approx(aurc(confidence, losses) - best)


def test_equal_confidence_gives_the_expected_curve() -> None:
    _, risk = risk_coverage([0.5] * 4, [1.0, 0.0, 0.0, 1.0])
    assert list(risk) == [0.5] * 4
    assert aurc([0.5] * 4, [1.0, 0.0, 0.0, 1.0]) == 0.5


def test_measuring_the_unsure_removes_the_regret() -> None:
    confidence, predicted, actual = [0.1, 0.9, 0.8], [0.0, 1.0, 0.5], [2.0, 1.0, 0.5]
    assert set_regret(confidence, predicted, actual, 0.0) == 1.0
    assert set_regret(confidence, predicted, actual, 0.34) == 0.0


def test_pairs_within_noise_are_ties_and_counted() -> None:
    # 0.05 octaves is under 5 %; 0.2 is under twice the noise of 0.15.
    counted = against_anchor([1, 1, -1, 0, 1], [0.05, 0.2, -1.0, 2.0, -0.5], [0, 0.15, 0, 0, 0])
    assert (counted.ties, counted.pairs, counted.right) == (2, 3, 1.5)
    assert counted.accuracy == 0.5
    assert against_anchor([1], [0.0], [0]).accuracy is None


def test_pairs_of_a_set() -> None:
    # Truth orders 0 < 1 < 3, the last two tied; the guess swaps the first pair.
    counted = within_set([2.0, 1.0, 3.0, 4.0], [0.0, 1.0, 3.0, 3.01], [0.0] * 4)
    assert (counted.ties, counted.pairs, counted.right) == (1, 5, 4.0)


def test_rank_correlations() -> None:
    assert kendall([1, 2, 3], [1, 3, 2]) == pytest.approx(1 / 3)
    assert spearman([1, 2, 3], [1, 3, 2]) == pytest.approx(0.5)
    # τ-b with one pair of equals on the left: (2 − 0) / √(2 · 3).
    assert kendall([1, 1, 2], [1, 2, 3]) == pytest.approx(2 / math.sqrt(6))
    assert kendall([1, 1], [1, 2]) is None
    assert spearman([1, 1], [1, 2]) is None


def test_search_curves_charge_failures() -> None:
    order = [math.inf, 4.0, 2.0, 3.0]
    assert list(best_so_far(order)) == [math.inf, 4.0, 2.0, 2.0]
    assert found_over_best(order, 2.0, [1, 2, 3, 10]) == [math.inf, 2.0, 1.0, 1.0]
    assert measurements_to_within(order, 2.0, 1.1) == 3
    assert measurements_to_within(order, 1.0, 1.1) is None
    assert measurements_of(0.01, 4362) == 44
    assert measurements_of(0.01, 5) == 1


def test_mismatched_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="rows"):
        forecast_metrics([bins.uniform()], [0.0, 1.0])
    with pytest.raises(ValueError, match="no rows"):
        forecast_metrics(np.zeros((0, bins.COUNT)), [])
    with pytest.raises(ValueError, match="1 confidences for 2 losses"):
        aurc([0.5], [1.0, 0.0])
