"""Scores against random draws, where every answer is known."""

import numpy as np
import pytest

from leaderboard.search.scoring import best_so_far, interval, performance, random_baseline


def test_the_baseline_is_the_expected_best_of_random_draws() -> None:
    times, failing = [1.0, 2.0, 4.0, 4.0, 9.0, 20.0], 3
    pool = np.array(times + [20.0] * failing)
    generator = np.random.default_rng(0)
    simulated = np.mean([np.minimum.accumulate(generator.permutation(pool)) for _ in range(40_000)], axis=0)
    assert random_baseline(times, failing, 9) == pytest.approx(simulated, rel=0.02)


def test_the_baseline_of_a_whole_pool_is_its_best() -> None:
    assert random_baseline([3.0, 5.0], 0, 4)[1:] == pytest.approx([3.0, 3.0, 3.0])


def test_performance_is_nothing_at_random_and_one_at_the_optimum() -> None:
    baseline = np.array([4.0, 3.0])
    assert performance(baseline, baseline, 2.0) == pytest.approx([0, 0])
    assert performance(np.array([2.0, 2.0]), baseline, 2.0) == pytest.approx([1, 1])
    assert (performance(np.array([8.0, 8.0]), baseline, 2.0) < 0).all()


def test_failed_measurements_count_as_the_worst_until_one_works() -> None:
    assert best_so_far([None, 5.0, 7.0, None, 3.0], 20.0) == pytest.approx([20, 5, 5, 5, 3])


def test_the_interval_holds_the_mean_and_shrinks_with_seeds() -> None:
    generator = np.random.default_rng(1)
    few, many = generator.normal(1, 0.1, (2, 10)), generator.normal(1, 0.1, (2, 1000))
    low, high = interval(few)
    assert low < few.mean() < high
    assert np.diff(interval(many))[0] < np.diff(interval(few))[0] / 4
