"""Work left running after "done", on a case whose memory is the CPU's."""

import os
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import Verdict
from runners.supervisor import cuda_case
from runners.supervisor.bringing import BringSeconds
from runners.supervisor.cuda_arena import PAGE, CudaArena, Layout
from runners.supervisor.cuda_case import CudaCase, reported_seconds
from runners.supervisor.drawn_pages import DrawnPages
from runners.supervisor.oracle import Oracle
from runners.supervisor.outcome import Ended, LateWrite

_SLOTS = 4
Late = Callable[[], None]


class _Memory(CudaArena):
    """An arena without a device."""

    def __init__(self, layout: Layout, slots: int) -> None:
        self.layout, self.slots = layout, slots
        self.bytes = torch.zeros(slots * layout.stride, dtype=torch.uint8)

    def export(self) -> int:
        return os.open(os.devnull, os.O_RDONLY)

    def describe(self) -> dict[str, Any]:
        return {}

    def close(self) -> None: ...


class _Clock:
    """Stands for clock and child: doubles the inputs of the armed slots, the ``late`` ones later."""

    def __init__(self, late: Sequence[int], answer: dict[str, Any]) -> None:
        self.drawn = DrawnPages(64, PAGE, "cpu")
        self.case: CudaCase
        self._late, self._answer = late, answer
        self._order: list[int] = []

    def flush_cache(self) -> None: ...

    def request(self, message: dict[str, Any], limit: float, event: str, *rest: Any) -> dict[str, Any]:
        self._order = message.get("slots", [])
        return {"event": event}

    def batch(
        self, bring: Callable[[], None], outputs: torch.Tensor, limit: float, what: str
    ) -> tuple[float, dict[str, Any]]:
        bring()
        self._write([slot for slot in self._order if slot not in self._late])
        self.drawn.copy(outputs)
        self.drawn.confirm(outputs)
        self._write(self._order)  # after the clock and its comparison, before anything is verified
        return 1.0, {"event": "done", **self._answer}

    def _write(self, slots: Sequence[int]) -> None:
        inputs, outputs = self.case._inputs, self.case._outputs
        for slot in slots:
            x = inputs.layout.tensor(inputs.bytes, slot, 0)
            torch.mul(x, 2, out=outputs.layout.tensor(outputs.bytes, slot, 0))


@pytest.fixture
def opened(spec: TaskSpec, monkeypatch: pytest.MonkeyPatch) -> Callable[..., CudaCase]:
    monkeypatch.setattr(cuda_case, "CudaArena", _Memory)

    def call(late: Sequence[int] = (), answer: dict[str, Any] | None = None) -> CudaCase:
        clock: Any = _Clock(late, {"event_seconds": 1.0} if answer is None else answer)
        case = CudaCase(
            clock,
            Oracle(spec, "cpu"),
            spec,
            spec.cases[1],
            _SLOTS,
            1.0,
            timed=True,
            bring=BringSeconds({}),
            cache=0,
        )
        clock.case = case
        return case

    return call


def _batch(case: CudaCase, order: Sequence[int]) -> None:
    case.arm(order)
    case.refill(order)
    case.run()
    assert not any(error["mismatches"] for slot in order for error in case.check(slot)), "all is right by now"


def test_a_batch_that_is_done_when_it_says_so_passes(opened: Callable[..., CudaCase]) -> None:
    case = opened()
    _batch(case, [2, 0])
    _batch(case, [0, 1, 2, 3])

    assert case.event_seconds(2, 4) == 0.0


@pytest.mark.parametrize("then", [lambda case: case.arm([0]), lambda case: case.event_seconds(2, 2)])
def test_outputs_that_were_right_only_later_are_late(
    opened: Callable[..., CudaCase], then: Callable[[CudaCase], object]
) -> None:
    case = opened(late=[3])
    _batch(case, [0, 3])

    with pytest.raises(Ended, match="still being written") as caught:
        then(case)
    assert caught.value.verdict == Verdict.WRONG


def test_a_case_that_is_closed_leaves_nothing_to_the_next(opened: Callable[..., CudaCase]) -> None:
    case = opened(late=[3])
    _batch(case, [0, 3])
    drawn = case._clock.drawn
    case.close()

    drawn.confirm(torch.zeros((_SLOTS, PAGE), dtype=torch.uint8))


@pytest.mark.parametrize("answer", [{}, {"event_seconds": "1"}, {"event_seconds": float("nan")}])
def test_a_batch_without_a_time_by_events_is_refused(
    opened: Callable[..., CudaCase], answer: dict[str, Any]
) -> None:
    case = opened(answer=answer)
    case.arm([1])
    case.refill([1])

    with pytest.raises(Ended, match="no time by the device's events") as caught:
        case.run()
    assert caught.value.verdict == Verdict.REFUSED


@pytest.mark.parametrize("told", [True, None, -1.0, float("inf"), float("nan")])
def test_what_is_no_time_is_not_taken_for_one(told: object) -> None:
    assert reported_seconds({"event_seconds": told}) is None


def test_pages_are_drawn_from_the_armed_slots_alone() -> None:
    drawn = DrawnPages(64, PAGE, "cpu")
    outputs = torch.zeros((8, PAGE), dtype=torch.uint8)
    drawn.draw([1, 3], per_slot=2)
    drawn.copy(outputs)

    outputs[[0, 1, 4, 5]] = 1  # slots 0 and 2
    drawn.confirm(outputs)
    outputs[[2, 3, 6, 7], 77] = 1  # one byte of each page of slots 1 and 3
    with pytest.raises(LateWrite):
        drawn.confirm(outputs)
