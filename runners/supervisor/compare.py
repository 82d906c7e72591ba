"""Comparing one output with the oracle's, element by element."""

import math

import torch

from runners.contract.result import OutputError
from runners.contract.spec import Tolerance

#: Elements compared at a time, so that the intermediate values stay in the processor's cache.
_CHUNK = 1 << 16
_DEVICE_CHUNK = 1 << 25  # on a GPU few launches count for more


def compare(name: str, got: torch.Tensor, want: torch.Tensor, tolerance: Tolerance) -> OutputError:
    """How ``got`` (the task's dtype) differs from ``want`` (float64, or whole numbers) of the same shape.

    An element passes when |got - want| <= atol + rtol * |want|. NaN must meet NaN, infinities their equal.
    """
    if not got.is_floating_point():
        return _compare_integers(name, got, want)
    flat_got, flat_want = got.reshape(-1), want.reshape(-1)
    mismatches, index, worst = 0, 0, (False, -1.0)
    absolute = relative = 0.0
    chunk = _DEVICE_CHUNK if got.is_cuda else _CHUNK
    for start in range(0, flat_got.numel(), chunk):
        wide = flat_got[start : start + chunk].to(torch.float64)
        wanted = flat_want[start : start + chunk]
        size = wanted.abs()
        error = (wide - wanted).abs_()
        # An infinite value has an infinite tolerance: it passes by being equal only.
        bad = ~((error <= size * tolerance.rtol + tolerance.atol) & (error < math.inf))
        if bool(bad.any()):
            bad &= ~((wide == wanted) | (wide.isnan() & wanted.isnan()))
        failed = int(bad.sum())
        mismatches += failed
        # The worst element is one that fails, if any does; of these, one that is not finite.
        ranked = error.nan_to_num(nan=math.inf)
        if failed:
            ranked = ranked.masked_fill(~bad, -1.0)
        largest, place = ranked.max(0)
        if (failed > 0, float(largest)) > worst:
            worst, index = (failed > 0, float(largest)), start + int(place)
        absolute = max(absolute, _largest(error))
        relative = max(relative, _largest(error.div_(size).masked_fill_(size == 0, 0)))
    return {
        "output": name,
        "mismatches": mismatches,
        "elements": got.numel(),
        "max_abs_error": absolute if math.isfinite(absolute) else None,
        "max_rel_error": relative if math.isfinite(relative) else None,
        "worst_index": _coordinates(index, got.shape),
        "got": repr(float(flat_got[index])),
        "want": repr(float(flat_want[index])),
        "atol": tolerance.atol,
        "rtol": tolerance.rtol,
    }


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
    """``output y: 3 of 12 elements differ; worst at [0, 2]: got nan, want 1.0``."""
    count = f"{error['mismatches']} of {error['elements']} elements differ"
    return (
        f"output {error['output']}: {count}; worst at {error['worst_index']}: "
        f"got {error['got']}, want {error['want']}"
    )


def _largest(values: torch.Tensor) -> float:
    """The maximum; infinite when a value is NaN."""
    largest = float(values.max())
    return math.inf if math.isnan(largest) else largest


def _coordinates(index: int, shape: torch.Size) -> list[int]:
    coordinates: list[int] = []
    for size in reversed(shape):
        index, rest = divmod(index, size)
        coordinates.append(rest)
    return coordinates[::-1]
