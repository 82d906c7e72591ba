"""Comparing one output with the oracle's, element by element."""

import math
from dataclasses import dataclass

import torch

from runners.contract.budget import FLOAT32_ROUNDING, ROUNDING, UNDERFLOW
from runners.contract.result import OutputError
from runners.contract.spec import Tolerance
from runners.contract.vocabulary import Verdict
from runners.supervisor.outcome import Ended

#: Elements compared at a time, so that the intermediate values stay in the processor's cache.
_CHUNK = 1 << 16
_DEVICE_CHUNK = 1 << 25  # on a GPU few launches count for more


@dataclass(frozen=True)
class Bound:
    """An output's error budget in one case: ``units`` roundings of ``condition``, a tensor of its shape.

    ``alone``: the tolerance is not asked.
    """

    condition: torch.Tensor
    units: int
    alone: bool


def compare(
    name: str, got: torch.Tensor, want: torch.Tensor, tolerance: Tolerance, bound: Bound | None = None
) -> OutputError:
    """How ``got`` (the task's dtype) differs from ``want`` (float64, or whole numbers) of the same shape.

    An element passes when |got - want| <= atol + rtol * |want| and it is within the budget, if there is one.
    NaN must meet NaN, infinities their equal. Raises Ended where the budget of a finite value is not finite.
    """
    if not got.is_floating_point():
        return _compare_integers(name, got, want)
    flat_got, flat_want = got.reshape(-1), want.reshape(-1)
    found = _Found(name, got, tolerance, bound)
    chunk = _DEVICE_CHUNK if got.is_cuda else _CHUNK
    for start in range(0, flat_got.numel(), chunk):
        wide = flat_got[start : start + chunk].to(torch.float64)
        found.look(start, wide, flat_want[start : start + chunk])
    index = found.index
    error: OutputError = {
        "output": name,
        "mismatches": found.mismatches,
        "elements": got.numel(),
        "max_abs_error": _finite(found.absolute),
        "max_rel_error": _finite(found.relative),
        "worst_index": _coordinates(index, got.shape),
        "got": repr(float(flat_got[index])),
        "want": repr(float(flat_want[index])),
        "atol": tolerance.atol,
        "rtol": tolerance.rtol,
    }
    if not (bound and bound.alone):
        error["tolerance_used"] = _finite(found.tolerance_used)
    if bound:
        error["budget_used"] = _finite(found.budget_used)
        if found.mismatches:
            error["beyond"] = found.beyond
    return error


class _Found:
    """What the parts of one output showed so far."""

    def __init__(self, name: str, got: torch.Tensor, tolerance: Tolerance, bound: Bound | None) -> None:
        self._name = name
        self._tolerance = tolerance
        self._bound = bound
        dtype = str(got.dtype).removeprefix("torch.")
        self._rounding, self._underflow = ROUNDING[dtype], UNDERFLOW[dtype]
        self.mismatches, self.index = 0, 0
        self.absolute = self.relative = self.tolerance_used = self.budget_used = 0.0
        self._worst = (False, -1.0)
        self._beyond_tolerance = self._beyond_budget = False

    @property
    def beyond(self) -> str:
        """``tolerance``, ``budget`` or ``both``: what elements failed by."""
        if self._beyond_tolerance and self._beyond_budget:
            return "both"
        return "tolerance" if self._beyond_tolerance else "budget"

    def look(self, start: int, wide: torch.Tensor, wanted: torch.Tensor) -> None:
        """Takes in the elements from ``start`` on; ``wide`` is what came, in float64."""
        size = wanted.abs()
        error = (wide - wanted).abs_()
        bad = self._outside(start, wide, wanted, size, error)
        failed = 0 if bad is None else int(bad.sum())
        self.mismatches += failed
        # The worst element is one that fails, if any does; of these, one that is not finite.
        ranked = error.nan_to_num(nan=math.inf, posinf=math.inf)
        largest, place = ranked.max(0)
        self.absolute = max(self.absolute, float(largest))
        if bad is not None and failed:
            largest, place = ranked.masked_fill(~bad, -1.0).max(0)
        if (failed > 0, float(largest)) > self._worst:
            self._worst, self.index = (failed > 0, float(largest)), start + int(place)
        self.relative = max(self.relative, _largest(error.div_(size).masked_fill_(size == 0, 0)))

    def _outside(
        self,
        start: int,
        wide: torch.Tensor,
        wanted: torch.Tensor,
        size: torch.Tensor,
        error: torch.Tensor,
    ) -> torch.Tensor | None:
        """The elements that fail; None when none does."""
        bad: torch.Tensor | None = None
        if self._bound is None or not self._bound.alone:
            limit = size.mul(self._tolerance.rtol).add_(self._tolerance.atol)
            share, outside = _against(limit, error, wide, wanted)
            self.tolerance_used = max(self.tolerance_used, share)
            if outside is not None:
                self._beyond_tolerance, bad = True, outside
        if self._bound is not None:
            condition = self._bound.condition.reshape(-1)[start : start + len(size)].to(torch.float64)
            if bool((wanted.isfinite() & ~condition.isfinite()).any()):
                text = f"The condition of output {self._name} is not finite where its value is."
                raise Ended(Verdict.INTERNAL_ERROR, text)
            limit = condition.mul(self._bound.units * FLOAT32_ROUNDING).add_(size, alpha=self._rounding)
            share, outside = _against(limit.add_(self._underflow), error, wide, wanted)
            self.budget_used = max(self.budget_used, share)
            if outside is not None:
                self._beyond_budget, bad = True, outside if bad is None else bad | outside
        return bad


def _against(
    limit: torch.Tensor, error: torch.Tensor, wide: torch.Tensor, wanted: torch.Tensor
) -> tuple[float, torch.Tensor | None]:
    """The largest share of ``limit`` that an error takes, and the elements past it, None when there are none.

    An infinite value has an infinite limit: it passes by being equal only.
    """
    outside = ~((error <= limit) & (error < math.inf))
    share = error / limit
    if bool(outside.any()):
        outside &= ~((wide == wanted) | (wide.isnan() & wanted.isnan()))
        if bool(outside.any()):
            # Where no number came, or one for an infinite value, it is beyond all bounds.
            share.masked_fill_(outside & ~(error < math.inf), math.inf)
            return _most(share), outside
        share.masked_fill_(wide == wanted, 0.0)
    return _most(share), None


def _most(share: torch.Tensor) -> float:
    """The largest; no error is no share of any limit, also of none."""
    return float(share.nan_to_num_(nan=0.0, posinf=math.inf).max())


def roughly_equal(got: torch.Tensor, want: torch.Tensor, tolerance: Tolerance) -> bool:
    """Whether ``got`` surely is no worse than twice the tolerance off ``want``, itself only about right.

    False says nothing: ``compare`` with the oracle's exact result decides. Infinities and NaN say nothing.
    """
    if not got.is_floating_point():
        return torch.equal(got, want.to(got.dtype))
    flat_got, flat_want = got.reshape(-1), want.reshape(-1)
    chunk = _DEVICE_CHUNK if got.is_cuda else _CHUNK
    for start in range(0, flat_got.numel(), chunk):
        wanted = flat_want[start : start + chunk]
        error = (flat_got[start : start + chunk] - wanted).abs_()
        limit = wanted.abs().mul_(2 * tolerance.rtol).add_(2 * tolerance.atol)
        if not bool((error <= limit).all()):
            return False
    return True


def _compare_integers(name: str, got: torch.Tensor, want: torch.Tensor) -> OutputError:
    wanted = want.to(torch.int64)
    error = (got.to(torch.int64) - wanted).abs()
    index = int(error.argmax())
    return {
        "output": name,
        "mismatches": int((error != 0).sum()),
        "elements": got.numel(),
        "max_abs_error": float(error.max()),
        "max_rel_error": None,
        "worst_index": _coordinates(index, got.shape),
        "got": str(int(got.reshape(-1)[index])),
        "want": str(int(wanted.reshape(-1)[index])),
        "atol": 0.0,
        "rtol": 0.0,
    }


def sentence(error: OutputError) -> str:
    """``output y: 3 of 12 elements differ; worst at [0, 2]: got nan, want 1.0``; and what they failed by
    where that is not the tolerance alone.
    """
    count = f"{error['mismatches']} of {error['elements']} elements differ"
    words = (
        f"output {error['output']}: {count}; worst at {error['worst_index']}: "
        f"got {error['got']}, want {error['want']}"
    )
    used = error.get("budget_used")
    times = f"{used:.3g} times" if used else "far beyond"
    match error.get("beyond"):
        case "budget" if error.get("tolerance_used") is not None:
            return f"{words}; within the tolerance, but {times} the error budget of the task's arithmetic"
        case "budget":
            return f"{words}; {times} the error budget of the task's arithmetic"
        case "both":
            return f"{words}; beyond the tolerance, and {times} the error budget of the task's arithmetic"
        case _:
            return words


def _largest(values: torch.Tensor) -> float:
    """The maximum; infinite when a value is NaN."""
    largest = float(values.max())
    return math.inf if math.isnan(largest) else largest


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _coordinates(index: int, shape: torch.Size) -> list[int]:
    coordinates: list[int] = []
    for size in reversed(shape):
        index, rest = divmod(index, size)
        coordinates.append(rest)
    return coordinates[::-1]
