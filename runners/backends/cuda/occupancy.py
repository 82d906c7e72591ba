"""Theoretical occupancy: how many warps of a kernel fit on one multiprocessor, and what keeps more out."""

from dataclasses import dataclass
from typing import Literal

from runners.backends.cuda.architecture import QUARTERS, REGISTER_UNIT, REGISTERS, WARP, Architecture

Limit = Literal["registers", "shared memory", "warps", "blocks", "does not fit"]


@dataclass(frozen=True)
class Occupancy:
    """Of one kernel at one block size."""

    threads: int  # of a block
    blocks: int  # that are resident on one multiprocessor together
    warps: int  # of all of these blocks
    fraction: float  # of the most warps that the multiprocessor can hold
    limited_by: Limit


def occupancy(place: Architecture, threads: int, registers: int, shared_bytes: int) -> Occupancy:
    """``registers`` per thread and ``shared_bytes`` per block, static and dynamic together."""
    warps = -(-threads // WARP)
    shared = _round_up(shared_bytes + place.shared_reserved, place.shared_unit)
    by_limit: dict[Limit, int] = {
        "warps": place.warps // warps,
        "blocks": place.blocks,
        "registers": _blocks_by_registers(warps, registers),
        "shared memory": place.shared_bytes // shared if shared else place.blocks,
    }
    blocks = min(by_limit.values())
    if blocks == 0:
        return Occupancy(threads, 0, 0, 0.0, "does not fit")
    limit = next(name for name, value in by_limit.items() if value == blocks)
    resident = blocks * warps
    return Occupancy(threads, blocks, resident, resident / place.warps, limit)


def _blocks_by_registers(warps: int, registers: int) -> int:
    per_warp = _round_up(max(registers, 1) * WARP, REGISTER_UNIT)
    # A block that needs more than all registers, counted in whole quarters, cannot start at all.
    if per_warp * _round_up(warps, QUARTERS) > REGISTERS:
        return 0
    return (REGISTERS // QUARTERS // per_warp) * QUARTERS // warps


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
