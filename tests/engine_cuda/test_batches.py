"""How the time stage chooses and judges batches on a GPU, on a device whose true times are known."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from runners.contract.limits import LIMITS, ModeLimits
from runners.contract.result import Timing
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import Mode, Verdict
from runners.supervisor.batches import is_nearly
from runners.supervisor.outcome import Ended
from runners.supervisor.timing import CaseTimer

_LIMITS = ModeLimits(deadline=120, compile=60, call=30, case_timing=30, warm_up=0)
_NULL = 150e-6  # seconds of an empty batch


class _Device:
    """Stands for session and open case: a batch takes the hand-shake, what it varies by, and its calls."""

    copies = False
    waited = 0.0

    def __init__(self, slots: int, batch: Callable[[int], float], told: float) -> None:
        self.slots = self._most = slots
        self.lengths: list[int] = []
        self.checked = self.looked_at = 0
        self._batch, self._told = batch, told
        self._noise = random.Random(1)

    def open(self, case: object, slots: int, *, timed: bool) -> "_Device":
        return self

    def slots_for(self, case: object) -> int:
        return self.slots

    def null_overhead(self, case: object) -> float:
        return _NULL

    quickest_null = null_overhead

    def arm(self, order: Sequence[int]) -> None:
        self.lengths.append(len(order))

    def keep(self, slots: int) -> None:
        self.slots = min(slots, self._most)

    def refill(self, order: Sequence[int]) -> None: ...

    def renew(self) -> None: ...

    def run(self) -> float:
        return _NULL + self._noise.uniform(-50e-6, 150e-6) + self._batch(self.lengths[-1])

    def check(self, slot: int) -> list[dict[str, Any]]:
        self.checked += 1
        return []

    def roughly_right(self, slot: int) -> bool:
        self.looked_at += 1
        return True

    def event_seconds(self, short: int, long: int) -> float | None:
        return self._told

    def close(self) -> None: ...


def _measure(device: _Device, spec: TaskSpec, mode: Mode = Mode.RANKED, **ceilings: float) -> Timing:
    session: Any = device
    return CaseTimer(session, spec, spec.cases[1], mode, _LIMITS).measure(ceilings, lambda text: None)


@pytest.mark.parametrize(("call", "slots"), [(3e-6, 8000), (58e-6, 180), (225e-6, 46), (4e-3, 46)])
def test_an_honest_time_is_right_within_a_percent(call: float, slots: int, spec: TaskSpec) -> None:
    timing = _measure(_Device(slots, lambda calls: calls * call, call), spec)

    assert timing["seconds"] == pytest.approx(call, rel=0.01)
    assert (timing["ci_high"] - timing["ci_low"]) / 2 <= 0.006 * timing["seconds"]
    assert "overlapping" not in timing


def test_calls_that_run_four_at_a_time_are_told(spec: TaskSpec) -> None:
    call = 2e-3
    timing = _measure(_Device(46, lambda calls: max(call, calls * call / 4), call / 4), spec)

    assert timing["seconds"] == pytest.approx(call / 4, rel=0.05), "the slope alone sees nothing of it"
    assert timing["alone_seconds"] == pytest.approx(call, rel=0.1)
    assert "overlapping" in timing


def test_long_batches_are_no_longer_than_precision_asks_for(spec: TaskSpec) -> None:
    device = _Device(8000, lambda calls: calls * 100e-6, 100e-6)

    timing = _measure(device, spec)

    short, long = sorted(map(int, timing["samples"]))
    assert 150 <= long <= 250, "25 ms of calls"
    assert short == long // 4
    assert max(device.lengths) == long


def test_a_batch_of_thousands_is_checked_by_drawing(spec: TaskSpec) -> None:
    device = _Device(8000, lambda calls: calls * 3e-6, 3e-6)

    _measure(device, spec)

    assert 256 < device.checked < 1000
    assert device.checked + device.looked_at > len(device.lengths), "every batch is looked at, by drawing"


def test_dawdling_in_short_batches_gains_next_to_nothing(spec: TaskSpec) -> None:
    # Short batches take as long as long ones, so that the slope says nothing at all.
    device = _Device(8000, lambda calls: 20e-3 if calls > 200 else calls * 3e-6, 3e-6)

    with pytest.raises(Ended, match="work of several calls done in one"):
        _measure(device, spec)


def test_dawdling_a_little_gains_less_than_the_hand_shake(spec: TaskSpec) -> None:
    true = 100e-6
    dawdle = 1.5e-3  # below what a first call may cost
    device = _Device(200, lambda calls: calls * true + (dawdle if calls < 100 else 0), true)

    timing = _measure(device, spec)

    assert timing["seconds"] > 0.98 * true


def test_no_call_takes_less_than_a_launch(spec: TaskSpec) -> None:
    fused = _Device(8000, lambda calls: 5e-6 + calls * 0.1e-6, 0.1e-6)
    with pytest.raises(Ended, match="launching a kernel"):
        _measure(fused, spec, least_launch_seconds=2e-6)
    honest = _measure(_Device(8000, lambda calls: calls * 2.1e-6, 2.1e-6), spec, least_launch_seconds=2e-6)
    assert honest["floor_seconds"] == pytest.approx(1.6e-6)


def _stretching(true: float, slots: int, stretched: int = 2) -> _Device:
    """Half a second a call in the first batches, then true; a batch of one call dawdles by most of one."""
    made = 0

    def batch(calls: int) -> float:
        nonlocal made
        made += 1
        if made <= stretched:
            return calls * 0.5
        return calls * true + (0.65 * true if calls == 1 else 0.0)

    return _Device(slots, batch, true)


@pytest.mark.parametrize("true", [200e-6, 380e-6, 1e-3])
def test_a_stretched_warm_up_does_not_make_batches_short(true: float, spec: TaskSpec) -> None:
    timing = _measure(_stretching(true, 64), spec)

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
        _measure(_Device(8000, batch, 1e-4), spec)
    assert caught.value.verdict == Verdict.REFUSED


def test_slow_calls_are_timed_in_few_batches_rather_than_in_few_calls(spec: TaskSpec) -> None:
    timing = _measure(_Device(100, lambda calls: calls * 0.3, 0.3), spec)

    assert max(map(int, timing["samples"])) == 16


def test_an_eighth_more_slots_than_calls_stay_in_use(spec: TaskSpec) -> None:
    device = _Device(8000, lambda calls: calls * 100e-6, 100e-6)

    long = max(map(int, _measure(device, spec)["samples"]))

    assert device.slots == long + long // 8


@pytest.mark.parametrize(
    ("mode", "fewest", "seconds"), [(Mode.RANKED, 15, 25e-3), (Mode.BENCHMARK, 8, 12.5e-3)]
)
def test_an_interval_takes_so_many_batches_of_such_a_length(
    mode: Mode, fewest: int, seconds: float, spec: TaskSpec
) -> None:
    device = _Device(8000, lambda calls: calls * 50e-6, 50e-6)
    limits = replace(LIMITS[mode], warm_up=0)

    timing = CaseTimer(cast(Any, device), spec, spec.cases[1], mode, limits).measure({}, lambda text: None)

    counts = {int(length): len(times) for length, times in timing["samples"].items()}
    assert counts[min(counts)] >= fewest
    assert max(counts) * 50e-6 == pytest.approx(seconds, rel=0.15)


def test_events_that_tell_another_time_refuse_the_run(spec: TaskSpec) -> None:
    call = 200e-6
    _measure(_Device(180, lambda calls: calls * call, 0.96 * call), spec)
    with pytest.raises(Ended, match="with two times there is none") as caught:
        _measure(_Device(180, lambda calls: calls * call, 0.93 * call), spec)
    assert caught.value.verdict == Verdict.REFUSED


def test_what_a_batch_costs_beyond_three_empty_ones_is_charged_to_its_calls(spec: TaskSpec) -> None:
    call, first = 200e-6, 0.9e-3

    honest = _measure(_Device(180, lambda calls: calls * call, call), spec)
    costly = _measure(_Device(180, lambda calls: calls * call + first, call), spec)

    assert honest["seconds"] == pytest.approx(call, rel=0.01)
    # The long batches alone would say 1.03; a short one has 31 calls.
    assert 1.05 * call < costly["seconds"] < 1.10 * call


def test_arithmetic_that_smaller_types_could_do_in_parts_is_left_to_a_person(spec: TaskSpec) -> None:
    call = 200e-6
    rate = spec.case_flops(spec.cases[1]) / call
    for share, refused in ((6, False), (12, True)):
        device = _Device(180, lambda calls: calls * call, call)
        ceilings = {"flops_per_s": {spec.flops_dtype: rate / share}}
        if refused:
            with pytest.raises(Ended, match="the arithmetic takes this device"):
                _measure(device, spec, **cast(Any, ceilings))
        else:
            floor = _measure(device, spec, **cast(Any, ceilings))["floor_seconds"]
            assert floor == pytest.approx(share * call), "a time below its floor waits for a person"


class _Shared(_Device):
    """A CPU whose every ``often``-th batch waits for its core and takes four times as long."""

    def __init__(self, often: int) -> None:
        super().__init__(64, lambda calls: calls * 1e-3, 4e-3 if often == 1 else 1e-3)
        self._often = often

    def run(self) -> float:
        seconds = super().run()
        waits = len(self.lengths) % self._often == 0
        self.waited = 3 * seconds if waits else 0.0
        return seconds + self.waited


@pytest.mark.parametrize("often", [3, 4, 7])
def test_batches_that_waited_for_a_core_give_no_time(often: int, spec: TaskSpec) -> None:
    timing = _measure(_Shared(often), spec)

    assert timing["left_out"] > 0
    slow = [
        seconds
        for length, times in timing["samples"].items()
        for seconds in times
        if seconds > 2e-3 * int(length)
    ]
    assert len(slow) <= 1
    assert timing["seconds"] == pytest.approx(1e-3, rel=0.02)


def test_where_all_batches_wait_most_of_them_count(spec: TaskSpec) -> None:
    timing = _measure(_Shared(1), spec)

    counted = sum(len(times) for times in timing["samples"].values())
    assert 3 <= timing["left_out"] <= counted / 2 + 3
    assert timing["seconds"] == pytest.approx(4e-3, rel=0.05)


def test_where_batches_waited_for_a_core_a_standing_cost_is_charged_and_not_refused(spec: TaskSpec) -> None:
    device = _Shared(1)
    device.event_seconds = lambda short, long: None  # type: ignore[method-assign] # as on a CPU
    # When the short batches came, others had the cores for longest.
    device._batch = lambda calls: calls * 1e-3 if calls > 32 else 0.03

    timing = _measure(device, spec)

    assert timing["left_out"] > 0
    assert timing["seconds"] > 4e-3, "what the others waited, and more for the short ones"


@pytest.mark.parametrize(("slots", "short_of"), [(4, 2), (4, 1), (16, 11), (8000, 5999)])
def test_batches_too_short_by_more_than_a_quarter_are_taken_anew(slots: int, short_of: int) -> None:
    assert not is_nearly(short_of, slots)
    assert is_nearly(-(-3 * slots // 4), slots)
