"""Comparing one output with the oracle's, element by element."""

import math

import torch

from runners.contract.result import OutputError
from runners.contract.spec import Tolerance


def compare(name: str, got: torch.Tensor, want: torch.Tensor, tolerance: Tolerance) -> OutputError:
    """How ``got`` (the task's dtype) differs from ``want`` (float64, or whole numbers) of the same shape.

    An element passes when |got - want| <= atol + rtol * |want|. NaN must meet NaN, infinities their equal.
    """
    if not got.is_floating_point():
        return _compare_integers(name, got, want)
    wide = got.to(torch.float64)
    error = (wide - want).abs_()
    bad = ~(error <= want.abs().mul_(tolerance.rtol).add_(tolerance.atol))
    if bool(bad.any()):
        bad &= ~((wide == want) | (wide.isnan() & want.isnan()))
    mismatches = int(bad.sum())
    # The worst element is one that fails, if any does; of these, a non-finite one first.
    ranked = error.nan_to_num(nan=math.inf)
    if mismatches:
        ranked = ranked.masked_fill(~bad, -1.0)
    index = int(ranked.argmax())
    relative = (error / want.abs()).masked_fill_(want == 0, 0)
    return {
        "output": name,
        "mismatches": mismatches,
        "elements": got.numel(),
        "max_abs_error": _finite_max(error),
        "max_rel_error": _finite_max(relative),
        "worst_index": _coordinates(index, got.shape),
        "got": repr(float(wide.view(-1)[index])),
        "want": repr(float(want.reshape(-1)[index])),
        "atol": tolerance.atol,
        "rtol": tolerance.rtol,
    }


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


def _finite_max(values: torch.Tensor) -> float | None:
    largest = float(values.max())
    return largest if math.isfinite(largest) else None


def _coordinates(index: int, shape: torch.Size) -> list[int]:
    coordinates: list[int] = []
    for size in reversed(shape):
        index, rest = divmod(index, size)
        coordinates.append(rest)
    return coordinates[::-1]
