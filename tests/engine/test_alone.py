"""Calls that overlap on a GPU: a call by itself against one of many. The times are made up, as a clock is."""

from typing import Any

import pytest

from runners.contract.vocabulary import DeviceKind
from runners.supervisor.alone import Alone, alone_seconds, how_many, least_seconds, overlap
from runners.supervisor.outcome import CaseFailed
from tests.engine.test_warm_cache import KnownTimes


class Checked(KnownTimes):
    def roughly_right(self, slot: int) -> bool:
        return not self.mismatches

    def check(self, slot: int) -> list[Any]:
        wrong = {"output": "y", "elements": 9, "worst_index": [0], "got": "nan", "want": "1.0"}
        return [{**wrong, "mismatches": self.mismatches}]


def test_one_call_a_batch_less_an_empty_batch() -> None:
    opened = Checked(call=0.003, standing=0.5)
    assert alone_seconds(opened, [4, 2, 9], null=0.5).seconds == pytest.approx(0.003)
    assert opened.orders == [[4], [2], [9]]
    assert opened.refilled == [[4], [2], [9]], "new inputs each time"


def test_an_empty_batch_that_took_longer_leaves_nothing() -> None:
    assert alone_seconds(Checked(call=0.001), [1], null=0.5) == Alone(0.0, None)


def test_doing_nothing_when_alone_is_wrong() -> None:
    with pytest.raises(CaseFailed):
        alone_seconds(Checked(call=0.0, mismatches=1), [1], null=0.0)


def test_the_quickest_by_the_devices_events_is_told_beside() -> None:
    class Told(Checked):
        def run(self) -> float:
            seconds = super().run()
            self.told = 0.002 + 0.001 * self.orders[-1][0]
            return seconds

    assert alone_seconds(Told(call=0.003), [4, 2, 9], null=0.0) == Alone(0.003, 0.004)


@pytest.mark.parametrize(
    ("kind", "alone", "told", "seconds", "is_told"),
    [
        (DeviceKind.CUDA, 1.1e-3, None, 1.0e-3, False),  # a launch and a wake-up more
        (DeviceKind.CUDA, 60e-6, None, 5e-6, False),  # of a call this short a launch is most
        (DeviceKind.CUDA, 4e-3, 4e-3, 1e-3, True),  # four at a time
        (DeviceKind.CUDA, 2.3e-3, 2.3e-3, 1e-3, True),
        (DeviceKind.CUDA, 2.1e-3, 2.1e-3, 1e-3, False),
        (DeviceKind.CUDA, 932e-6, 500e-6, 255e-6, False),  # slow to begin, as the device's events tell
        (DeviceKind.CUDA, 932e-6, 900e-6, 255e-6, True),  # they tell that it was slow
        (DeviceKind.CUDA, 932e-6, None, 255e-6, True),
        (DeviceKind.CUDA, 900e-6, 895e-6, 113e-6, True),  # eight at a time, begun one after the other
        (DeviceKind.CUDA, 4e-3, 1e-3, 1e-3, True),  # more than a slow beginning takes, whatever events tell
        (DeviceKind.CPU, 0.69e-3, None, 0.14e-3, False),  # torch, woken up
        (DeviceKind.CPU, 25e-3, None, 20e-3, False),
        (DeviceKind.CPU, 2e-3, None, 0.3e-3, True),  # the first call pays for all
    ],
)
def test_what_launching_does_not_explain_is_told(
    kind: DeviceKind, alone: float, told: float | None, seconds: float, is_told: bool
) -> None:
    assert bool(overlap(kind, Alone(alone, told), seconds)) == is_told


def test_on_a_cpu_a_call_takes_most_of_what_it_takes_alone() -> None:
    assert least_seconds(0.0) == 0
    assert least_seconds(0.0007) == 0, "waking up"
    assert least_seconds(0.02075) == pytest.approx(0.016)


def test_long_calls_are_made_seldom_alone() -> None:
    assert [how_many(per_call, 10.0) for per_call in (1e-6, 0.1, 5.0)] == [7, 5, 2]
