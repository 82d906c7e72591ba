"""The noise of a device: from equal runs of its record, repeated while it is idle."""

import math
import random
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from leaderboard.ranking import widened
from runners.contract.vocabulary import Mode
from runners.models import Device, Evaluation, EvaluationStatus, Lane, Runner
from runners.noise import Spread, pooled
from runners.rounds import Rounds
from runners.services import repeats

Enqueue = Callable[..., Evaluation]


def test_groups_of_equal_runs_are_pooled() -> None:
    found = pooled([[1.0, math.e], [5.0, 5.0 * math.e], [3.0], []])
    assert found is not None
    assert found.freedom == 2, "one comparison of each pair, none of a single run"
    assert found.deviation == pytest.approx(math.sqrt(0.5))


@pytest.mark.parametrize("groups", [[], [[1.0]], [[1.0, 1.1]], [[1.0], [2.0], [3.0]]])
def test_one_comparison_says_nothing_of_a_spread(groups: list[list[float]]) -> None:
    assert pooled(groups) is None


@pytest.mark.parametrize(
    ("freedom", "factor"),
    # The square root of freedom over the 5 % quantile of chi-square, from a table.
    [(4, 2.372), (9, 1.645), (19, 1.370), (100, 1.133)],
)
def test_what_the_noise_is_at_most_by_its_table(freedom: int, factor: float) -> None:
    assert Spread(0.01, freedom).at_most == pytest.approx(0.01 * factor, rel=0.02)


@pytest.mark.parametrize(
    ("deviation", "freedom", "at_most"),
    [
        (0.77, 2, 0.84),  # 3.4 by themselves
        (0.10, 2, 0.12),
        (0.10, 100, 0.11),
        (0.002, 12, 0.003),  # nothing seen says that it is as noisy as had been assumed
    ],
)
def test_a_few_runs_do_not_tie_everything(deviation: float, freedom: int, at_most: float) -> None:
    assert Spread(deviation, freedom).at_most_beside(0.03) == pytest.approx(at_most, rel=0.06)


def test_twenty_equal_kernels_share_their_rank() -> None:
    """Of a thousand boards on which noise was learned from twelve comparisons; goal: all."""
    chance = random.Random(1)
    apart = 0
    for _ in range(1000):
        learned = pooled([[math.exp(chance.gauss(0, 0.005)) for _ in range(2)] for _ in range(12)])
        assert learned is not None
        entered = sorted(math.exp(chance.gauss(0, 0.005)) for _ in range(20))
        first, last = (
            widened(seconds, seconds, seconds, learned.at_most) for seconds in (entered[0], entered[-1])
        )
        apart += first[1] < last[0]
    assert apart <= 30, f"{apart} of 1000 boards rank equal kernels apart"


@pytest.fixture
def ran(enqueue: Enqueue, device: Device) -> Callable[..., Evaluation]:
    def run(seconds: float, lane: Lane = Lane.BASELINE, days: float = 1, cost: float = 9.0) -> Evaluation:
        evaluation = enqueue(Mode.RANKED, lane)
        Evaluation.objects.filter(pk=evaluation.pk).update(
            status=EvaluationStatus.FINISHED,
            verdict="passed",
            result={"score": {"seconds": seconds}},
            finished_at=timezone.now() - timedelta(days=days),
            device_seconds=cost,
        )
        return evaluation

    return run


def test_the_record_of_baselines_sets_the_noise(device: Device, ran: Callable[..., Evaluation]) -> None:
    for seconds in (1.0, 1.02, 0.98, 1.01):
        ran(seconds)
    assert repeats.learn(device=device)
    device.refresh_from_db()
    assert device.calibration["noise"]["freedom"] == 3
    assert device.noise is not None
    assert device.noise > device.calibration["noise"]["deviation"] > 0.01


def test_what_people_entered_and_what_is_long_ago_says_nothing(
    device: Device, ran: Callable[..., Evaluation]
) -> None:
    for seconds in (1.0, 2.0, 3.0):
        ran(seconds, lane=Lane.PERSON)
        ran(seconds, lane=Lane.AUDIT)
        ran(seconds, days=100)
    assert not repeats.learn(device=device)


def test_an_idle_device_repeats_the_cheapest_baseline_until_it_knows_enough(
    settings: Settings, device: Device, make_runner: Callable[[], Runner], ran: Callable[..., Evaluation]
) -> None:
    settings.NOISE_REPEATS = 2
    make_runner()
    repeats.tend()
    assert not waiting(), "no baseline was measured yet"
    first = ran(1.0)
    repeats.tend()
    (repeated,) = waiting()
    assert (repeated.kernel_id, repeated.mode, repeated.lane) == (first.kernel_id, Mode.RANKED, Lane.BASELINE)
    repeats.tend()
    assert len(waiting()) == 1, "one at a time"
    repeated.delete()
    for seconds in (1.01, 0.99):
        ran(seconds)
    repeats.tend()
    assert not waiting(), "two comparisons are what was asked for"
    device.refresh_from_db()
    assert device.noise_measured_at is not None


@pytest.mark.parametrize("busy", ["person waits", "person ran lately", "quarantined", "offline", "off"])
def test_a_device_that_is_needed_repeats_nothing(
    settings: Settings,
    device: Device,
    make_runner: Callable[[], Runner],
    ran: Callable[..., Evaluation],
    enqueue: Enqueue,
    busy: str,
) -> None:
    settings.NOISE_REPEATS = 0 if busy == "off" else 5
    ran(1.0)
    if busy != "offline":
        make_runner()
    if busy == "person waits":
        enqueue()
    if busy == "person ran lately":
        ran(1.0, lane=Lane.PERSON, days=0)
    if busy == "quarantined":
        Device.objects.update(quarantine_reason="a test")
    repeats.tend()
    assert not [item for item in waiting() if item.lane == Lane.BASELINE]


def waiting() -> list[Evaluation]:
    return list(Evaluation.objects.filter(status=EvaluationStatus.QUEUED))


def test_rounds_keep_each_its_pace() -> None:
    now, done = [0.0], []
    rounds = Rounds({lambda: done.append("often"): 0, lambda: done.append("seldom"): 10}, lambda: now[0])
    for moment in (0.0, 5.0, 10.0, 19.0):
        now[0] = moment
        rounds()
    assert done == ["often", "seldom", "often", "often", "seldom", "often"]
