"""The warm figure: which calls it makes, and when there is none. The times are made up, as a clock is."""

from typing import Any

import pytest

from runners.contract.vocabulary import Verdict
from runners.supervisor.outcome import CaseFailed
from runners.supervisor.warm_cache import warm_seconds


class KnownTimes:
    """An OpenCase whose calls take ``call`` seconds and whose batches take ``standing`` more."""

    told: float | None = None

    def __init__(self, call: float, standing: float = 0.0, mismatches: int = 0, fails: bool = False) -> None:
        self.call, self.standing, self.fails = call, standing, fails
        self.mismatches = mismatches
        self.orders: list[list[int]] = []
        self.refilled: list[list[int]] = []
        self.renewed = 0

    def arm(self, order: list[int]) -> None:
        self.orders.append(list(order))

    def refill(self, order: list[int]) -> None:
        self.refilled.append(list(order))

    def renew(self) -> None:
        self.renewed += 1

    def run(self) -> float:
        if self.fails:
            raise CaseFailed(Verdict.WRONG, "said by the kernel")
        return self.standing + self.call * len(self.orders[-1])

    def check(self, slot: int) -> list[Any]:
        return [{"mismatches": self.mismatches}]


COLD = {4: [0.008] * 3, 16: [0.032] * 3}


def _warm(opened: Any, budget: float = 10.0, cold: dict[int, list[float]] = COLD) -> float | None:
    return warm_seconds(opened, 3, cold, budget)


def test_one_slot_again_and_again_at_two_lengths() -> None:
    opened = KnownTimes(call=0.001, standing=0.5)
    assert _warm(opened) == pytest.approx(0.001), "what a batch costs by itself cancels"
    assert {tuple(order) for order in opened.orders} == {(3,) * 4, (3,) * 16}
    assert opened.refilled == [[3]], "inputs stay as they are, else nothing would be warm"
    assert opened.renewed == len(opened.orders) - 1


def test_batches_are_shorter_where_the_budget_is() -> None:
    opened = KnownTimes(call=0.001)
    _warm(opened, budget=2.0)  # the least that may be spent: 0.25 s on three pairs of batches
    longest = max(map(len, opened.orders))
    assert longest == 16
    opened = KnownTimes(call=0.01)
    _warm(opened, budget=2.0, cold={4: [0.04], 16: [0.16]})
    assert max(map(len, opened.orders)) == 6


def test_calls_that_are_too_long_are_left_alone() -> None:
    opened = KnownTimes(call=1.0)
    assert _warm(opened, cold={1: [1.0], 4: [4.0]}) is None
    assert opened.orders == []


@pytest.mark.parametrize(
    "opened", [KnownTimes(0.001, mismatches=1), KnownTimes(0.001, fails=True), KnownTimes(0.0, standing=1.0)]
)
def test_no_figure_of_calls_that_went_wrong_or_took_no_time(opened: KnownTimes) -> None:
    assert _warm(opened) is None
