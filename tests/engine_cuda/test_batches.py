"""How the time stage chooses and judges batches on a GPU, on a device whose true times are known."""

from dataclasses import replace
from typing import Any, cast

import pytest

from runners.contract.limits import LIMITS
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import Mode, Verdict
from runners.supervisor.batches import is_nearly
from runners.supervisor.outcome import Ended
from runners.supervisor.timing import CaseTimer
from tests.engine_cuda.known_times import KnownDevice, measure


@pytest.mark.parametrize(("call", "slots"), [(3e-6, 8000), (58e-6, 180), (225e-6, 46), (4e-3, 46)])
def test_an_honest_time_is_right_within_a_percent(call: float, slots: int, spec: TaskSpec) -> None:
    timing = measure(KnownDevice(slots, lambda calls: calls * call, call), spec)

    assert timing["seconds"] == pytest.approx(call, rel=0.01)
    assert (timing["ci_high"] - timing["ci_low"]) / 2 <= 0.006 * timing["seconds"]
    assert "overlapping" not in timing


def test_calls_that_run_four_at_a_time_are_told(spec: TaskSpec) -> None:
    call = 2e-3
    timing = measure(KnownDevice(46, lambda calls: max(call, calls * call / 4), call / 4), spec)

    assert timing["seconds"] == pytest.approx(call / 4, rel=0.05), "the slope alone sees nothing of it"
    assert timing["alone_seconds"] == pytest.approx(call, rel=0.1)
    assert "overlapping" in timing


def test_long_batches_are_no_longer_than_precision_asks_for(spec: TaskSpec) -> None:
    device = KnownDevice(8000, lambda calls: calls * 100e-6, 100e-6)

    timing = measure(device, spec)

    short, long = sorted(map(int, timing["samples"]))
    assert 150 <= long <= 250, "25 ms of calls"
    assert short == long // 4
    assert max(device.lengths) == long


def test_a_batch_of_thousands_is_checked_by_drawing(spec: TaskSpec) -> None:
    device = KnownDevice(8000, lambda calls: calls * 3e-6, 3e-6)

    measure(device, spec)

    assert 256 < device.checked < 1000
    assert device.checked + device.looked_at > len(device.lengths), "every batch is looked at, by drawing"


def test_dawdling_in_short_batches_gains_next_to_nothing(spec: TaskSpec) -> None:
    # Short batches take as long as long ones, so that the slope says nothing at all.
    device = KnownDevice(8000, lambda calls: 20e-3 if calls > 200 else calls * 3e-6, 3e-6)

    with pytest.raises(Ended, match="work of several calls done in one"):
        measure(device, spec)


def test_dawdling_a_little_gains_less_than_the_hand_shake(spec: TaskSpec) -> None:
    true = 100e-6
    dawdle = 1.5e-3  # below what a first call may cost
    device = KnownDevice(200, lambda calls: calls * true + (dawdle if calls < 100 else 0), true)

    timing = measure(device, spec)

    assert timing["seconds"] > 0.98 * true


def test_no_call_takes_less_than_a_launch(spec: TaskSpec) -> None:
    fused = KnownDevice(8000, lambda calls: 5e-6 + calls * 0.1e-6, 0.1e-6)
    with pytest.raises(Ended, match="launching a kernel"):
        measure(fused, spec, least_launch_seconds=2e-6)
    honest = measure(KnownDevice(8000, lambda calls: calls * 2.1e-6, 2.1e-6), spec, least_launch_seconds=2e-6)
    assert honest["floor_seconds"] == pytest.approx(1.6e-6)


def _stretching(true: float, slots: int, stretched: int = 2) -> KnownDevice:
    """Half a second a call in the first batches, then true; a batch of one call dawdles by most of one."""
    made = 0

    def batch(calls: int) -> float:
        nonlocal made
        made += 1
        if made <= stretched:
            return calls * 0.5
        return calls * true + (0.65 * true if calls == 1 else 0.0)

    return KnownDevice(slots, batch, true)


@pytest.mark.parametrize("true", [200e-6, 380e-6, 1e-3])
def test_a_stretched_warm_up_does_not_make_batches_short(true: float, spec: TaskSpec) -> None:
    timing = measure(_stretching(true, 64), spec)

    assert timing["seconds"] == pytest.approx(true, rel=0.02)
    assert max(map(int, timing["samples"])) >= 0.75 * min(64, int(25e-3 / true))


def test_a_time_that_falls_whenever_batches_grow_is_refused(spec: TaskSpec) -> None:
    falling = iter([0.5, 1e-3, 0.5e-3, 0.25e-3, 0.1e-3, 0.05e-3])
    longest, per_call = 0, 0.0

    def batch(calls: int) -> float:
        nonlocal longest, per_call
        if calls > longest:
            longest, per_call = calls, next(falling)
        return calls * per_call

    with pytest.raises(Ended, match="whenever it was found out") as caught:
        measure(KnownDevice(8000, batch, 1e-4), spec)
    assert caught.value.verdict == Verdict.REFUSED


def test_slow_calls_are_timed_in_few_batches_rather_than_in_few_calls(spec: TaskSpec) -> None:
    timing = measure(KnownDevice(100, lambda calls: calls * 0.3, 0.3), spec)

    assert max(map(int, timing["samples"])) == 16


def test_an_eighth_more_slots_than_calls_stay_in_use(spec: TaskSpec) -> None:
    device = KnownDevice(8000, lambda calls: calls * 100e-6, 100e-6)

    long = max(map(int, measure(device, spec)["samples"]))

    assert device.slots == long + long // 8


@pytest.mark.parametrize(
    ("mode", "fewest", "seconds"), [(Mode.RANKED, 15, 25e-3), (Mode.BENCHMARK, 8, 12.5e-3)]
)
def test_an_interval_takes_so_many_batches_of_such_a_length(
    mode: Mode, fewest: int, seconds: float, spec: TaskSpec
) -> None:
    device = KnownDevice(8000, lambda calls: calls * 50e-6, 50e-6)
    limits = replace(LIMITS[mode], warm_up=0)

    timing = CaseTimer(cast(Any, device), spec, spec.cases[1], mode, limits).measure({}, lambda text: None)

    counts = {int(length): len(times) for length, times in timing["samples"].items()}
    assert counts[min(counts)] >= fewest
    assert max(counts) * 50e-6 == pytest.approx(seconds, rel=0.15)


def test_events_that_tell_another_time_refuse_the_run(spec: TaskSpec) -> None:
    call = 200e-6
    measure(KnownDevice(180, lambda calls: calls * call, 0.96 * call), spec)
    with pytest.raises(Ended, match="with two times there is none") as caught:
        measure(KnownDevice(180, lambda calls: calls * call, 0.93 * call), spec)
    assert caught.value.verdict == Verdict.REFUSED


def test_what_a_batch_costs_beyond_three_empty_ones_is_charged_to_its_calls(spec: TaskSpec) -> None:
    call, first = 200e-6, 0.9e-3

    honest = measure(KnownDevice(180, lambda calls: calls * call, call), spec)
    costly = measure(KnownDevice(180, lambda calls: calls * call + first, call), spec)

    assert honest["seconds"] == pytest.approx(call, rel=0.01)
    # The long batches alone would say 1.03; a short one has 31 calls.
    assert 1.05 * call < costly["seconds"] < 1.10 * call


def test_arithmetic_that_smaller_types_could_do_in_parts_is_left_to_a_person(spec: TaskSpec) -> None:
    call = 200e-6
    rate = spec.case_flops(spec.cases[1]) / call
    for share, refused in ((6, False), (12, True)):
        device = KnownDevice(180, lambda calls: calls * call, call)
        ceilings = {"flops_per_s": {spec.flops_dtype: rate / share}}
        if refused:
            with pytest.raises(Ended, match="the arithmetic takes this device"):
                measure(device, spec, **cast(Any, ceilings))
        else:
            floor = measure(device, spec, **cast(Any, ceilings))["floor_seconds"]
            assert floor == pytest.approx(share * call), "a time below its floor waits for a person"


@pytest.mark.parametrize(("slots", "short_of"), [(4, 2), (4, 1), (16, 11), (8000, 5999)])
def test_batches_too_short_by_more_than_a_quarter_are_taken_anew(slots: int, short_of: int) -> None:
    assert not is_nearly(short_of, slots)
    assert is_nearly(-(-3 * slots // 4), slots)
