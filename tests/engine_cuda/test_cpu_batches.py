"""How the time stage judges batches on a CPU that others use too, by times that are known."""

from dataclasses import replace
from typing import Any

import pytest

from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import DeviceKind, Mode
from runners.supervisor.timing import CaseTimer
from tests.engine_cuda.known_times import LIMITS, KnownDevice, measure


class _Shared(KnownDevice):
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
    timing = measure(_Shared(often), spec)

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
    timing = measure(_Shared(1), spec)

    counted = sum(len(times) for times in timing["samples"].values())
    assert 3 <= timing["left_out"] <= counted / 2 + 3
    assert timing["seconds"] == pytest.approx(4e-3, rel=0.05)


def test_where_batches_waited_for_a_core_a_standing_cost_is_charged_and_not_refused(spec: TaskSpec) -> None:
    device = _Shared(1)
    device.event_seconds = lambda short, long: None  # type: ignore[method-assign] # as on a CPU
    # When the short batches came, others had the cores for longest.
    device._batch = lambda calls: calls * 1e-3 if calls > 32 else 0.03

    timing = measure(device, spec)

    assert timing["left_out"] > 0
    assert timing["seconds"] > 4e-3, "what the others waited, and more for the short ones"


class _KeptShort(KnownDevice):
    """A CPU's submission that dawdles until it is asked for a few calls more, three times, and then no more;
    and in short batches, so that the slope tells little.
    """

    def __init__(self, true: float) -> None:
        super().__init__(64, self._spent, true)
        self._true, self._asked = true, [4]

    def event_seconds(self, short: int, long: int) -> None:  # type: ignore[override]
        return None

    def keep(self, slots: int) -> None:
        super().keep(slots)
        self._asked.append(self._asked[-1] * 3 // 2)

    def _spent(self, calls: int) -> float:
        if len(self._asked) <= 4:
            return calls * LIMITS.case_timing / (6.25 * (self._asked[-1] + 0.5))
        return calls * self._true + (0 if calls > 8 else 2 * self._true)


def test_batches_that_a_submission_kept_short_gain_nothing(spec: TaskSpec) -> None:
    true = 80e-6
    session: Any = _KeptShort(true)
    case = replace(spec.cases[1], device_kind=DeviceKind.CPU)

    timing = CaseTimer(session, spec, case, Mode.BENCHMARK, LIMITS).measure({}, lambda text: None)

    assert max(map(int, timing["samples"])) < 32, "64 would be right"
    assert timing["seconds"] >= true
