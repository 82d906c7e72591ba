"""What was good on other devices and in earlier runs is proposed, and never to independent samples."""

import math
from collections.abc import Callable
from random import Random

import pytest
from django.contrib.auth.models import User

from leaderboard.search.gaussian_outlook import GaussianOutlook
from leaderboard.search.generators.base import Ask, Operator
from leaderboard.search.generators.recorded import RecordedGenerator
from leaderboard.search.grid import Settings, settings_of
from leaderboard.search.models import SearchRun
from leaderboard.search.outlook import Seen
from leaderboard.search.plan import Plan, Policy
from leaderboard.search.recall import recall_order
from leaderboard.search.selectors.states import histories
from leaderboard.search.services.stepping import Stepper
from runners.models import Device, Runner
from surrogate.contract.request import KernelText
from tests.search.conftest import measure_all
from tests.search.spaces import made_up

POOL = made_up("new")


def at(block: int) -> Settings:
    return settings_of({"block": block})


def test_each_history_has_its_turn_and_failures_none() -> None:
    one = {at(16): 3.0, at(32): 1.0, at(64): 2.0}
    other = {at(32): 1.0, at(128): 2.0, at(256): None}
    assert recall_order([one, other]) == [at(32), at(64), at(128), at(16)]
    assert recall_order([]) == []
    many: dict[Settings, float | None] = {at(block): float(block) for block in range(500)}
    assert len(recall_order([many, one])) == 64


def test_settings_that_do_not_exist_here_are_passed_over() -> None:
    best = min(
        (item for item in POOL.seconds if POOL.seconds[item]), key=lambda item: POOL.seconds[item] or 0
    )
    elsewhere = settings_of({"block": 7, "tile": 1, "unroll": 1, "memory": "a"})
    generator = RecordedGenerator(POOL, recalled=[elsewhere, best])
    found = generator.propose(Ask(8, (), set()), Random(0))
    recalled = [item for item in found if item.operator == Operator.RECALL]
    assert [settings_of(item.kernel.parameters) for item in recalled] == [best]


@pytest.mark.parametrize("policy", [Policy.SURROGATE, Policy.RANDOM])
def test_a_later_run_is_proposed_the_best_of_an_earlier_one(
    start: Callable[..., SearchRun], runner: Runner, device: Device, policy: Policy
) -> None:
    stepper = Stepper(first := start(measurements=10))
    while stepper.step():
        measure_all(runner, device)
    best = first.candidates.exclude(parameters={}).exclude(seconds=None).order_by("seconds")[0]
    stepper = Stepper(later := start(measurements=7, plan=Plan(policy=policy, slots=3)))
    while stepper.step():
        measure_all(runner, device)
    recalled = later.candidates.filter(operator="recall")
    if policy == Policy.RANDOM:
        assert not recalled.exists(), "the best of n is to know nothing"
    else:
        assert best.digest in recalled.filter(generation=1).values_list("digest", flat=True)


@pytest.mark.parametrize("is_public", [True, False])
def test_the_best_of_somebody_elses_run_is_proposed_only_if_that_is_public(
    start: Callable[..., SearchRun], outsider: User, runner: Runner, device: Device, is_public: bool
) -> None:
    stepper = Stepper(first := start(measurements=10, is_public=is_public))
    while stepper.step():
        measure_all(runner, device)
    later = start(measurements=7, user=outsider)
    # A forecast goes by the same: of settings that were measured it would tell the time.
    assert [len(known) for known in histories(later)] == ([9] if is_public else [])
    stepper = Stepper(later)
    while stepper.step():
        measure_all(runner, device)
    assert later.candidates.filter(operator="recall").exists() == is_public
    assert first.candidates.filter(operator="recall").count() == 0


def test_with_the_starter_alone_a_forecast_lies_about_its_time_with_much_doubt() -> None:
    """Before, it lay about one second: everything was skipped, being slower by a thousandfold."""
    starter = Seen(KernelText("cuda", "the starter"), math.log2(1e-3))
    kernels = list(POOL.kernels.values())[:20]
    view = GaussianOutlook(POOL.grid, [made_up("one").seconds]).look([starter], kernels)
    assert view.mean.mean() == pytest.approx(math.log2(1e-3))
    assert (view.spread > 2.5).all()
    # Which of them are the faster ones the other device tells all the same.
    times = [POOL.seconds[settings_of(item.parameters)] or 1.0 for item in kernels]
    assert times[int(view.mean.argmin())] == pytest.approx(min(times), rel=0.15)
