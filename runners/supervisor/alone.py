"""A call that nothing runs beside, against one of many. Two things make calls shorter together than by
themselves.

On a GPU nothing makes a call wait for the one before it: a submission may spread its calls over streams of
its own, which the end of the batch waits for. Then a batch tells how many calls get through at once and not
how long one takes. On any device the first call of a batch may pay what all of them need, once.
"""

from collections.abc import Sequence

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
#: As much of what the first call of a batch costs is taken for honest, seconds. On an H200, which the clock
#: has just had for itself, a softmax in CUDA C took up to 0.61 ms more than an empty batch for it, and one in
#: Triton 0.7 ms; a call by itself takes as much more, or less.
_FIRST = {DeviceKind.CUDA: 1e-3, DeviceKind.CPU: 0.0}
_CPU_TIMES, _CPU_SECONDS = 1.25, 7.5e-4


def how_many(per_call: float, budget: float) -> int:
    """Batches of one call that are worth their time, of a case with ``budget`` seconds; two at least."""
    return max(2, min(_CALLS, int(_SHARE * budget / per_call)))


def alone_seconds(opened: OpenCase, slots: Sequence[int], null: float) -> float:
    """Seconds of a call by itself: batches of one call on each of ``slots``, less ``null``, the quickest
    empty one.

    The quickest counts: a busy machine makes some slower, and none quicker than the work allows. Raises
    CaseFailed for an output that is wrong: what is quick as it does nothing must not count.
    """
    times: list[float] = []
    for slot in slots:
        opened.arm([slot])
        opened.refill([slot])
        times.append(opened.run())
        if not opened.roughly_right(slot):
            for error in opened.check(slot):
                if error["mismatches"]:
                    raise CaseFailed(Verdict.WRONG, f"while timed: {sentence(error)}")
    return max(0.0, min(times) - null)


def overlap(kind: DeviceKind, alone: float, seconds: float, first: float) -> str:
    """What speaks for calls that overlapped, or of which one did the work of others, in words; empty where
    nothing does.

    ``first`` is what a batch of many takes beyond its calls and beyond an empty one: a first call that is
    slow for reasons of its own is so in every batch, where calls that overlap cost nothing beyond.
    """
    times, more = _TOLD[kind]
    if alone <= max(times * seconds, seconds + min(first, _FIRST[kind])) + more:
        return ""
    return f"a call by itself takes {alone:.3g} s, one of many {seconds:.3g} s"


def least_seconds(alone: float) -> float:
    """What a call on a CPU takes at least when it takes ``alone`` seconds by itself."""
    return max(0.0, alone - _CPU_SECONDS) / _CPU_TIMES
