"""A call that nothing runs beside, against one of many: calls that overlap are shorter only together.

Nothing on a GPU makes a call wait for the one before it. A submission may spread its calls over streams of
its own, which the end of the batch waits for; then a batch tells how many calls get through at once and not
how long one takes.
"""

from collections.abc import Sequence
from statistics import median

from runners.contract.vocabulary import Verdict
from runners.supervisor.compare import sentence
from runners.supervisor.outcome import CaseFailed
from runners.supervisor.session import OpenCase

#: Batches of one call.
CALLS = 7
#: An honest call alone takes longer than one of many by what launching and waking up take, and little more.
_TIMES, _SECONDS = 2.0, 2e-4


def alone_seconds(opened: OpenCase, slots: Sequence[int], null: float) -> float:
    """Seconds of a call by itself: batches of one call on each of ``slots``, less ``null``, an empty one.

    Raises CaseFailed for an output that is wrong: what is quick as it does nothing must not count.
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
    return max(0.0, median(times) - null)


def overlap(alone: float, seconds: float) -> str:
    """What speaks for calls that overlapped, in words; empty where nothing does."""
    if alone <= _TIMES * seconds + _SECONDS:
        return ""
    return f"a call by itself takes {alone:.3g} s, one of many {seconds:.3g} s"
