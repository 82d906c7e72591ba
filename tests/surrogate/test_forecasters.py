"""Every forecaster keeps the interface; the learning ones learn."""

import random
from dataclasses import replace

import numpy as np
import pytest

from surrogate.contract import bins
from surrogate.contract.forecast import Abstention, AbstentionReason, Forecast
from surrogate.contract.request import Anchor, KernelText, Neighbour
from surrogate.forecasters.base import Forecaster, LearningForecaster, Outcome
from surrogate.forecasters.ensemble import EnsembleForecaster, learn_weights
from surrogate.forecasters.prior import PriorForecaster
from surrogate.forecasters.registry import UnknownForecaster, build
from surrogate.forecasters.statistical import StatisticalForecaster
from surrogate.history import History
from surrogate.metrics import forecast_metrics
from tests.surrogate.factories import device, outcomes, request, source

OURS = ("prior", "random", "source_length", "roofline", "neighbours", "statistical", "ensemble")


def answers(forecaster: Forecaster, examined: list[Outcome]) -> list[Forecast]:
    found = forecaster.forecast([item.request for item in examined])
    assert all(isinstance(item, Forecast) for item in found)
    return [item for item in found if isinstance(item, Forecast)]


def crps(forecaster: Forecaster, examined: list[Outcome]) -> float:
    given = answers(forecaster, examined)
    return forecast_metrics(
        [item.probabilities for item in given], [item.log2_ratio or 0.0 for item in examined]
    )["crps"]


@pytest.mark.parametrize("name", OURS)
def test_every_forecaster_answers_in_order_before_and_after_learning(name: str) -> None:
    forecaster = build(name)
    assert isinstance(forecaster, Forecaster)
    asked = [
        request(),
        request(kernel=""),
        request(kernel="\x00 not a program"),
        replace(request(), anchor=Anchor("unknown", "cuda", "")),
        replace(request(), device=device(bandwidth=-1.0)),
        replace(request(), kernel=KernelText("cuda", source(), {"block": 32, "mode": "fast"})),
    ]
    for learned in (False, True):
        if learned and isinstance(forecaster, LearningForecaster):
            forecaster.fit(outcomes(48))
        found = forecaster.forecast(asked)
        assert len(found) == len(asked)
        for item in found:
            assert (item.forecaster, item.version) == (forecaster.name, forecaster.version)
            if isinstance(item, Forecast):
                assert sum(item.probabilities) == pytest.approx(1.0)
        assert forecaster.forecast(asked) == found
        assert forecaster.forecast([]) == []


@pytest.mark.parametrize("name", ["prior", "neighbours", "statistical", "ensemble"])
def test_learning_changes_the_version_and_failed_kernels_do_no_harm(name: str) -> None:
    forecaster = build(name)
    assert isinstance(forecaster, LearningForecaster)
    known = outcomes(48)
    forecaster.fit(known)
    first = forecaster.version
    forecaster.fit([*known, replace(known[0], log2_ratio=None)])
    assert forecaster.version != first
    forecaster.fit([replace(item, log2_ratio=None) for item in known[:5]])
    assert len(forecaster.forecast([request()])) == 1


@pytest.mark.parametrize("name", ["prior", "neighbours", "statistical", "ensemble"])
@pytest.mark.parametrize("ratio", [None, 0.5, 300.0, -300.0])
def test_a_record_of_one_outcome_is_learned_from(name: str, ratio: float | None) -> None:
    forecaster = build(name)
    assert isinstance(forecaster, LearningForecaster)
    forecaster.fit([replace(item, log2_ratio=ratio) for item in outcomes(60)])
    hostile = ("\x00\ud800\u202e", "]" * 20_000, "9" * 20_000)
    (answer, *_) = answers(forecaster, [Outcome(request(kernel=text), 0.0) for text in ("int a;", *hostile)])
    assert min(answer.probabilities) > 0  # nothing is impossible for having never happened
    if ratio is not None:
        assert answer.predicted_bin == bins.label_log2(ratio)


def test_the_statistical_forecaster_beats_the_prior_on_tasks_it_has_not_seen() -> None:
    known = outcomes(200, tasks=20)
    examined = [
        replace(item, request=replace(item.request, task=replace(item.request.task, slug="new")))
        for item in outcomes(80, seed=7)
    ]
    prior, statistical = PriorForecaster(), StatisticalForecaster()
    prior.fit(known)
    statistical.fit(known)
    assert crps(statistical, examined) < 0.75 * crps(prior, examined)


def test_p_correct_is_learned_where_enough_kernels_failed() -> None:
    known = outcomes(150)
    broken = [
        replace(
            item,
            log2_ratio=None,
            request=replace(item.request, kernel=KernelText("cuda", "atomicAdd(x);" * 9)),
        )
        for item in known[:40]
    ]
    forecaster = StatisticalForecaster()
    forecaster.fit([*known, *broken])
    good, bad = answers(forecaster, [known[0], broken[0]])
    assert (good.p_correct or 0) > 0.8
    assert (bad.p_correct or 1) < 0.3


def test_the_same_kernel_on_another_device_decides() -> None:
    known = outcomes(60, devices=("one", "two"))
    for name in ("neighbours", "statistical"):
        forecaster = build(name)
        assert isinstance(forecaster, LearningForecaster)
        forecaster.fit(known)
        odd = request(kernel=source(vector=2, loops=2, seed=5), on=device("three"))
        told = replace(odd, neighbours=(Neighbour(odd.kernel, device("one"), 1.4),))
        (bare,) = forecaster.forecast([odd])
        (informed,) = forecaster.forecast([told])
        assert isinstance(bare, Forecast)
        assert isinstance(informed, Forecast)
        assert informed.p_faster_than(1.0) > bare.p_faster_than(1.0)
        assert informed.mean > 0.6


def test_history_never_gives_away_the_answer() -> None:
    known = outcomes(30, tasks=3, devices=("one", "two"))
    history = History(known)
    for item in known:
        for neighbour in history.neighbours(item.request):
            same_kernel = neighbour.kernel == item.request.kernel
            assert not (same_kernel and neighbour.device.slug == item.request.device.slug)


def test_roofline_leaves_no_room_above_it_and_abstains_without_figures() -> None:
    forecaster = build("roofline")
    # 4 MiB at 1 TB/s take 4.19 µs; an anchor of 5 µs leaves a quarter octave, and half an octave for error.
    (tight,) = forecaster.forecast([request(seconds=5e-6)])
    assert isinstance(tight, Forecast)
    assert tight.p_faster_than(2.0) == pytest.approx(0.0)
    (none,) = forecaster.forecast([replace(request(), device=replace(device(), ceilings={}))])
    assert isinstance(none, Abstention)
    assert none.reason == AbstentionReason.UNSUPPORTED


def test_ensemble_weights_go_to_the_member_that_was_right() -> None:
    generator = random.Random(3)
    truths = [generator.gauss(0.5, 0.4) for _ in range(200)]
    good = [Forecast.of(bins.normal(item, 0.5), forecaster="good", version="1") for item in truths]
    bad = [Forecast.of(bins.uniform(), forecaster="bad", version="1") for _ in truths]
    silent = [Abstention(AbstentionReason.UNSUPPORTED, "no", "silent", "1") for _ in truths]
    weights = learn_weights([good, bad], truths)
    assert weights[0] > 0.9
    with_silent = learn_weights([good, bad, silent], truths)
    assert with_silent[0] > 10 * with_silent[1]
    assert sum(with_silent) == pytest.approx(1.0)
    assert with_silent[2] > 0.1  # silence is no proof of being bad


def test_an_ensemble_of_one_says_what_its_member_says() -> None:
    known, asked = outcomes(60), [Outcome(request(), 0.0)]
    alone, member = EnsembleForecaster([StatisticalForecaster()]), StatisticalForecaster()
    alone.fit(known)
    member.fit(known)
    assert alone.weights == (1.0,)
    (said,), (meant,) = answers(alone, asked), answers(member, asked)
    assert said.probabilities == pytest.approx(meant.probabilities)
    assert said.p_correct == pytest.approx(meant.p_correct)
    assert learn_weights([[]], []) == (1.0,)  # before any outcome


def test_an_ensemble_of_the_silent_abstains() -> None:
    class Silent:
        name = "silent"
        version = "1"

        def forecast(self, requests):  # type: ignore[no-untyped-def]
            return [Abstention(AbstentionReason.TIMEOUT, "late", "silent", "1") for _ in requests]

    (alone,) = EnsembleForecaster([Silent()]).forecast([request()])
    assert isinstance(alone, Abstention)
    (shared,) = EnsembleForecaster([Silent(), PriorForecaster()]).forecast([request()])
    assert isinstance(shared, Forecast)
    assert np.allclose(
        shared.probabilities, answers(PriorForecaster(), [Outcome(request(), 0.0)])[0].probabilities
    )


def test_unknown_names_are_refused_by_name() -> None:
    with pytest.raises(UnknownForecaster, match="'oracle'"):
        build("oracle")
    with pytest.raises(UnknownForecaster, match="'oracle'"):
        build("ensemble:prior+oracle")
