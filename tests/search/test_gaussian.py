"""The Gaussian process: it agrees with what it saw, doubts the rest, and learns from other devices."""

import math

import numpy as np
import pytest

from leaderboard.search import gaussian_outlook
from leaderboard.search.gaussian_outlook import GaussianOutlook
from leaderboard.search.grid import Grid
from leaderboard.search.outlook import Floats, Seen, most_telling
from surrogate.contract.request import KernelText
from surrogate.gaussian.covariance import Points, Scales, covariance, variance
from surrogate.gaussian.learning import learn_scales
from surrogate.gaussian.model import GaussianModel
from tests.search.spaces import made_up

SCALES = Scales(lengths=(1.0, 1.0), noise=0.01)


def points(count: int = 30, devices: int = 2, seed: int = 0) -> Points:
    generator = np.random.default_rng(seed)
    return Points(generator.random((count, 2)), generator.random((count, devices)) * 2)


def test_the_diagonal_of_the_covariance_is_the_variance() -> None:
    some = points()
    assert np.diag(covariance(some, some, SCALES)) == pytest.approx(variance(some, SCALES))


def test_the_posterior_goes_through_the_measurements_and_doubts_the_rest() -> None:
    measured, others = points(20), points(10, seed=1)
    log2_seconds = measured.expected + np.sin(5 * measured.settings[:, 0]) - 9
    model = GaussianModel(measured, log2_seconds, SCALES)
    again = model.ask(measured)
    assert again.mean == pytest.approx(log2_seconds, abs=0.05)
    assert (model.ask(others).variance > again.variance.max()).all()


def test_believing_a_kernel_is_like_measuring_it() -> None:
    """The doubt left after believing equals that of a model which measured the same point at its forecast."""
    pool = made_up("new")
    outlook = GaussianOutlook(pool.grid)
    kernels = list(pool.kernels.values())
    seen = [Seen(kernel, math.log2(seconds)) for kernel, seconds in _worked(pool)[:6]]
    before = outlook.look(seen, kernels[:40])
    believed = before.believing(7)
    assert believed.spread[7] < 0.5 * before.spread[7]
    assert (believed.spread <= before.spread + 1e-9).all()
    twice = believed.believing(7)
    assert twice.spread == pytest.approx(believed.spread, abs=0.05)


def test_devices_that_disagree_teach_doubt() -> None:
    generator = np.random.default_rng(3)
    settings = generator.random((200, 2))
    truth = 3 * settings[:, 0]
    agreeing = np.stack([truth, truth + 0.02, truth - 0.02], axis=1)
    quarrelling = agreeing + generator.normal(0, 1.0, agreeing.shape)
    fine = np.zeros(agreeing.shape, dtype=bool)
    sure, unsure = learn_scales(settings, agreeing, fine), learn_scales(settings, quarrelling, fine)
    assert sure.local + sure.warp + sure.noise < 0.5 * (unsure.local + unsure.warp + unsure.noise)


def test_failures_make_similar_kernels_doubtful() -> None:
    pool = made_up("new")
    outlook = GaussianOutlook(pool.grid)
    seen = [
        Seen(kernel, None if seconds is None else math.log2(seconds))
        for kernel, seconds in _all(pool)
        if kernel.parameters["unroll"] == 1
    ]
    others = [kernel for kernel, _ in _all(pool) if kernel.parameters["unroll"] == 2]
    view = outlook.look(seen, others)
    fails = np.array(
        [kernel.parameters["block"] == 256 and kernel.parameters["tile"] == 8 for kernel in others]
    )
    assert view.p_works[fails].max() < view.p_works[~fails].min()


def test_strange_kernels_and_histories_do_no_harm() -> None:
    pool = made_up("new")
    outlook = GaussianOutlook(pool.grid, [{}, {next(iter(pool.seconds)): 1.0}])
    starter = KernelText("cuda", "int main() {}")
    odd = KernelText("cuda", "", {"block": "many", "tile": 3.0, "new": 1.0})
    view = outlook.look([Seen(starter, -9.0)], [starter, odd])
    assert np.isfinite(view.mean).all()
    assert (view.spread > 0).all()
    assert outlook.look([], []).mean.shape == (0,)


def _all(pool: object) -> list[tuple[KernelText, float | None]]:
    return [(pool.kernels[settings], seconds) for settings, seconds in pool.seconds.items()]  # type: ignore[attr-defined]


def _worked(pool: object) -> list[tuple[KernelText, float]]:
    return [(kernel, seconds) for kernel, seconds in _all(pool) if seconds is not None]


def test_of_many_outcomes_the_newest_and_the_best_are_looked_at() -> None:
    times = [-9.0, None, *(float(place) for place in range(20)), None, 5.0]
    seen = [Seen(KernelText("cpp", str(place)), value) for place, value in enumerate(times)]
    kept = most_telling(seen, 6)
    assert [item.kernel.source for item in kept] == ["0", "2", "3", "21", "22", "23"]
    assert most_telling(seen, len(seen)) == seen
    assert len(most_telling(seen, 5)) == 5


def test_a_long_search_forecasts_from_a_bounded_number_of_outcomes() -> None:
    """What a step costs grows with the cube of it."""
    grid = Grid({"a": tuple(range(40)), "b": tuple(range(40))}, lambda _: True)
    kernels = [KernelText("cpp", "x", {"a": a, "b": b}) for a in range(40) for b in range(40)]
    seen = [Seen(kernel, -9.0 + abs(int(kernel.parameters["a"]) - 7) / 4) for kernel in kernels[:-1]]
    solved: list[int] = []

    class Counting(GaussianModel):
        def __init__(self, points: Points, log2_seconds: Floats, scales: Scales) -> None:
            solved.append(len(points))
            super().__init__(points, log2_seconds, scales)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gaussian_outlook, "GaussianModel", Counting)
        view = GaussianOutlook(grid).look(seen, [kernels[7 * 40], kernels[39 * 40 + 39]])
    assert solved == [600]
    assert view.mean[0] == pytest.approx(-9, abs=0.3)  # the best, long ago
    assert view.mean[1] > -6  # far slower than the best, which is all that is told of slow ones
