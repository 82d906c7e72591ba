"""How long batches are and how many there must be. Pure."""

from runners.contract.limits import ModeLimits
from runners.contract.vocabulary import DeviceKind

#: Batches of each length before the interval of a CPU is trusted; contract/limits.py has a GPU's.
_FEWEST = 5
FEWEST_AT_ALL = 3  # of each length, even past the budget
_FEWEST_CALLS = 16  # of a long batch on a GPU, where there are slots and time for them
#: Batches of each length take this many times as long as the long ones alone.
_BOTH = 1.25
#: What a batch may wait for a core: waking up takes a little.
_WAITED_SECONDS, _WAITED_SHARE = 1e-4, 0.02
#: Batches are as long as they should be when they have this share of the calls: two of four are too few.
_NEARLY = 0.75


def fewest_batches(kind: DeviceKind, limits: ModeLimits) -> int:
    return limits.batches if kind == DeviceKind.CUDA else _FEWEST


def calls_of_a_long_batch(kind: DeviceKind, limits: ModeLimits, per_call: float, slots: int) -> int:
    """When a call takes ``per_call`` seconds: as many as enough batches have time for, two at least."""
    affordable = int(limits.case_timing / (_BOTH * fewest_batches(kind, limits) * per_call))
    enough = slots
    if kind == DeviceKind.CUDA:
        enough = max(_FEWEST_CALLS, int(limits.long_batch / per_call))
        # Rather few batches than batches of few calls, in which a standing cost counts for much.
        time_for_few = min(limits.case_timing / FEWEST_AT_ALL, limits.call / 2)
        affordable = max(affordable, min(_FEWEST_CALLS, int(time_for_few / (_BOTH * per_call))))
    return max(2, min(slots, affordable, enough))


def had_to_wait(seconds: float, waited: float) -> bool:
    """Whether a batch of ``seconds`` was slowed down by whoever else wanted its cores."""
    return waited > _WAITED_SECONDS + _WAITED_SHARE * seconds


def is_nearly(calls: int, right: int) -> bool:
    """Whether batches of ``calls`` will do where they should have ``right``."""
    return calls >= _NEARLY * right
