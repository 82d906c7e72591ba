"""A call that nothing runs beside, against one of many. Two things make calls shorter together than by
themselves.

On a GPU nothing makes a call wait for the one before it: a submission may spread its calls over streams of
its own, which the end of the batch waits for. Then a batch tells how many calls get through at once and not
how long one takes. On any device the first call of a batch may pay what all of them need, once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from runners.contract.vocabulary import DeviceKind, Verdict
from runners.supervisor.compare import sentence
from runners.supervisor.outcome import CaseFailed
from runners.supervisor.session import OpenCase

#: Batches of one call, and the share of the time for a case that they may take.
_CALLS, _SHARE = 7, 0.05
#: An honest call alone takes longer than one of many by what launching and waking up take, and little more.
#: What goes beyond is told, as it may have reasons. On a CPU honest kernels took up to 0.5 ms more alone,
#: with or without four busy processes on two cores; what a call takes beyond that counts as its time, too.
_TOLD = {DeviceKind.CUDA: (2.0, 2e-4), DeviceKind.CPU: (3.0, 7.5e-4)}
#: A call by itself on a GPU may take so many seconds more than that where the device's events, which begin
#: behind what comes before a call, show nothing of it. After the clock's own kernels a call in Triton took
#: 0.68 ms more than one of many on an H200.
_FIRST_SECONDS = 1e-3
_CPU_TIMES, _CPU_SECONDS = 1.25, 7.5e-4


def how_many(per_call: float, budget: float) -> int:
    """Batches of one call that are worth their time, of a case with ``budget`` seconds; two at least."""
    return max(2, min(_CALLS, int(_SHARE * budget / per_call)))


@dataclass(frozen=True)
class Alone:
    """Seconds of the quickest call by itself: by the clock, and as the device's events tell, where there are
    any. Those come from the submission's process: they may speak for it, and never prove anything.
    """

    seconds: float
    told: float | None = None


def alone_seconds(opened: OpenCase, slots: Sequence[int], null: float) -> Alone:
    """Batches of one call on each of ``slots``, less ``null``, the quickest empty one.

    The quickest counts: a busy machine makes some slower, and none quicker than the work allows. Raises
    CaseFailed for an output that is wrong: what is quick as it does nothing must not count.
    """
    times: list[float] = []
    told: list[float] = []
    for slot in slots:
        opened.arm([slot])
        opened.refill([slot])
        times.append(opened.run())
        if opened.told is not None:
            told.append(opened.told)
        if not opened.roughly_right(slot):
            for error in opened.check(slot):
                if error["mismatches"]:
                    raise CaseFailed(Verdict.WRONG, f"while timed: {sentence(error)}")
    return Alone(max(0.0, min(times) - null), min(told, default=None))


def overlap(kind: DeviceKind, alone: Alone, seconds: float) -> str:
    """What speaks for calls that overlapped, or of which one did the work of others, in words; empty where
    nothing does.
    """
    times, more = _TOLD[kind]
    most = times * seconds + more
    if alone.seconds <= most:
        return ""
    if alone.told is not None and alone.told <= most and alone.seconds <= seconds + more + _FIRST_SECONDS:
        return ""
    return f"a call by itself takes {alone.seconds:.3g} s, one of many {seconds:.3g} s"


def least_seconds(alone: float) -> float:
    """What a call on a CPU takes at least when it takes ``alone`` seconds by itself."""
    return max(0.0, alone - _CPU_SECONDS) / _CPU_TIMES
