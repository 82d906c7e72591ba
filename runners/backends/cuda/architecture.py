"""What each CUDA architecture can hold at once, as NVIDIA's programming guide publishes it.

Only the numbers that bound how many blocks run on one multiprocessor. Registers are handed out by the warp in
units of 256, and every multiprocessor from 7.0 on has 65536 of them in four equal parts.
"""

from dataclasses import dataclass

WARP = 32  # threads
REGISTERS = 65536  # 32-bit registers of one multiprocessor
REGISTER_UNIT = 256  # registers are given to a warp in multiples of this
QUARTERS = 4  # a warp lives in one quarter of the multiprocessor and takes registers from there
MOST_THREADS = 1024  # of one block


@dataclass(frozen=True)
class Architecture:
    """Limits of one multiprocessor."""

    capability: str  # "9.0"
    warps: int
    blocks: int
    shared_bytes: int  # shared memory that all of its blocks have together
    shared_unit: int  # shared memory is given to a block in multiples of this
    shared_reserved: int  # taken by the system from every block

    @property
    def target(self) -> str:
        """What nvcc calls it: ``90a``. The "a" unlocks what only this architecture has, such as wgmma."""
        number = self.capability.replace(".", "")
        return number + ("a" if int(number) >= 90 else "")


def _volta(capability: str, warps: int, blocks: int, kilobytes: int) -> Architecture:
    return Architecture(capability, warps, blocks, kilobytes * 1024, 256, 0)


def _ampere(capability: str, warps: int, blocks: int, kilobytes: int) -> Architecture:
    return Architecture(capability, warps, blocks, kilobytes * 1024, 128, 1024)


ARCHITECTURES = {
    item.capability: item
    for item in (
        _volta("7.0", 64, 32, 96),
        _volta("7.2", 64, 32, 96),
        _volta("7.5", 32, 16, 64),
        _ampere("8.0", 64, 32, 164),
        _ampere("8.6", 48, 16, 100),
        _ampere("8.7", 48, 16, 164),
        _ampere("8.9", 48, 24, 100),
        _ampere("9.0", 64, 32, 228),
        _ampere("10.0", 64, 32, 228),
        _ampere("10.3", 64, 32, 228),
        _ampere("11.0", 48, 24, 228),
        _ampere("12.0", 48, 24, 100),
        _ampere("12.1", 48, 24, 100),
    )
}


class UnknownArchitectureError(ValueError):
    """The device's compute capability is not in the table above."""


def architecture(capability: str) -> Architecture:
    """The limits of ``capability`` ("9.0"). Raises UnknownArchitectureError."""
    try:
        return ARCHITECTURES[capability]
    except KeyError:
        known = ", ".join(ARCHITECTURES)
        raise UnknownArchitectureError(
            f"compute capability {capability!r} is not known here (known: {known})"
        ) from None
