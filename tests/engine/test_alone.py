"""Calls that overlap on a GPU: a call by itself against one of many. The times are made up, as a clock is."""

from typing import Any

import pytest

from runners.contract.vocabulary import DeviceKind
from runners.supervisor.alone import alone_seconds, how_many, least_seconds, overlap
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
    assert alone_seconds(opened, [4, 2, 9], null=0.5) == pytest.approx(0.003)
    assert opened.orders == [[4], [2], [9]]
    assert opened.refilled == [[4], [2], [9]], "new inputs each time"


def test_an_empty_batch_that_took_longer_leaves_nothing() -> None:
    assert alone_seconds(Checked(call=0.001), [1], null=0.5) == 0


def test_doing_nothing_when_alone_is_wrong() -> None:
    with pytest.raises(CaseFailed):
        alone_seconds(Checked(call=0.0, mismatches=1), [1], null=0.0)


@pytest.mark.parametrize(
    ("kind", "alone", "seconds", "first", "is_told"),
    [
        (DeviceKind.CUDA, 1.1e-3, 1.0e-3, 0, False),  # a launch and a wake-up more
        (DeviceKind.CUDA, 60e-6, 5e-6, 0, False),  # of a call this short a launch is most
        (DeviceKind.CUDA, 4e-3, 1e-3, 0, True),  # four at a time
        (DeviceKind.CUDA, 2.3e-3, 1e-3, 0, True),
        (DeviceKind.CUDA, 2.1e-3, 1e-3, 0, False),
        (
            DeviceKind.CUDA,
            932e-6,
            255e-6,
            702e-6,
            False,
        ),  # Triton on an H200: a slow first call each batch
        (DeviceKind.CUDA, 932e-6, 255e-6, 100e-6, True),  # the same where other batches show nothing of it
        (DeviceKind.CUDA, 932e-6, 255e-6, -50e-6, True),
        (DeviceKind.CUDA, 4e-3, 1e-3, 3e-3, True),  # more than a slow first call is believed to cost
        (DeviceKind.CPU, 0.69e-3, 0.14e-3, 0, False),  # torch, woken up
        (DeviceKind.CPU, 25e-3, 20e-3, 0, False),
        (DeviceKind.CPU, 2e-3, 0.3e-3, 0, True),  # the first call pays for all
        (DeviceKind.CPU, 2e-3, 0.3e-3, 2e-3, True),  # and says so
    ],
)
def test_what_launching_does_not_explain_is_told(
    kind: DeviceKind, alone: float, seconds: float, first: float, is_told: bool
) -> None:
    assert bool(overlap(kind, alone, seconds, first)) == is_told


def test_on_a_cpu_a_call_takes_most_of_what_it_takes_alone() -> None:
    assert least_seconds(0.0) == 0
    assert least_seconds(0.0007) == 0, "waking up"
    assert least_seconds(0.02075) == pytest.approx(0.016)


def test_long_calls_are_made_seldom_alone() -> None:
    assert [how_many(per_call, 10.0) for per_call in (1e-6, 0.1, 5.0)] == [7, 5, 2]
