"""What a compilation of a .cu file tells its author, as JSON for the result document."""

from collections.abc import Mapping
from typing import Any

from runners.backends.cuda import ptx, ptxas
from runners.backends.cuda.architecture import MOST_THREADS, Architecture
from runners.backends.cuda.occupancy import occupancy

#: Block sizes shown for a kernel whose source names none.
_USUAL_THREADS = (128, 256, 512, 1024)
_MOST_FUNCTIONS = 200
_MOST_LINES = 6000
_MOST_CHARACTERS = 600_000
_LONGEST_LINE = 300


def functions(
    usages: list[ptxas.Usage],
    bounds: Mapping[str, ptx.LaunchBounds],
    names: Mapping[str, str],
    place: Architecture,
) -> list[dict[str, Any]]:
    """One flat entry per ``__global__`` function, so that a table can show it as it is.

    ``occupancy_256`` is the fraction of the multiprocessor's warps that blocks of 256 threads fill: at the
    size that ``__launch_bounds__`` names, else at the usual ones, for launches without dynamic shared memory,
    whose size only the host code knows. ``occupancy_limit`` says what keeps the fullest of them from more.
    """
    return [
        _function(usage, bounds.get(usage.symbol, ptx.LaunchBounds()), names, place)
        for usage in usages[:_MOST_FUNCTIONS]
    ]


def _function(
    usage: ptxas.Usage, bound: ptx.LaunchBounds, names: Mapping[str, str], place: Architecture
) -> dict[str, Any]:
    threads = [bound.threads] if bound.threads and bound.threads <= MOST_THREADS else _USUAL_THREADS
    places = [occupancy(place, count, usage.registers, usage.shared_bytes) for count in threads]
    return {
        "name": names.get(usage.symbol, usage.symbol)[:_LONGEST_LINE],
        "registers": usage.registers,
        "shared_bytes": usage.shared_bytes,
        "stack_bytes": usage.stack_bytes,
        "spill_stores_bytes": usage.spill_store_bytes,
        "spill_loads_bytes": usage.spill_load_bytes,
        "barriers": usage.barriers,
        "launch_bounds": bound.threads,
        **{f"occupancy_{item.threads}": item.fraction for item in places},
        "occupancy_limit": max(places, key=lambda item: item.fraction).limited_by,
    }


def listing(kind: str, lines: list[ptx.Line]) -> dict[str, Any]:
    """One listing, cut where it grows past what a page can show."""
    kept: list[list[Any]] = []
    characters = 0
    for number, text in lines:
        characters += min(len(text), _LONGEST_LINE)
        if len(kept) >= _MOST_LINES or characters > _MOST_CHARACTERS:
            left = len(lines) - len(kept)
            kept.append([None, f"… {left} more lines are left out"])
            break
        kept.append([number, text if len(text) <= _LONGEST_LINE else text[:_LONGEST_LINE] + " …"])
    return {"kind": kind, "lines": kept}
