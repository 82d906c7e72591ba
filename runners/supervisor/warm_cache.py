"""The time of calls that find their data in the caches: one slot again and again. Shown, and never ranked.

Ranked calls each have a slot of their own and find it cold. Here a submission sees by its addresses that the
same call comes again, and could leave it out: so the figure decides nothing.
"""

from collections.abc import Mapping
from statistics import median

from runners.supervisor.outcome import CaseFailed
from runners.supervisor.session import OpenCase

#: Of the time for a case, how much may go into this, and the seconds that may in any case.
_SHARE, _SECONDS = 0.06, 0.25
_PAIRS = 3  # batches of either length
_FEWEST_CALLS = 4  # of a long batch, or there is no figure


def warm_seconds(
    opened: OpenCase, slot: int, samples: Mapping[int, list[float]], budget: float
) -> float | None:
    """Seconds of a call on ``slot`` when the one before it was on the same.

    ``samples`` are the cold batches, which tell how long a call takes, and ``budget`` the seconds of the
    case. None where calls are too long to afford it, or no time above the noise came out.
    """
    long = max(samples)
    per_call = median(samples[long]) / long
    calls = min(long, int(max(_SHARE * budget, _SECONDS) / (_PAIRS * 1.25 * per_call)))
    if calls < _FEWEST_CALLS:
        return None
    lengths = (max(1, calls // 4), calls)
    times: dict[int, list[float]] = {length: [] for length in lengths}
    try:
        for number in range(_PAIRS):
            for length in lengths:
                opened.arm([slot] * length)
                if number == 0 and length == lengths[0]:
                    opened.refill([slot])
                else:
                    opened.renew()
                times[length].append(opened.run())
        if any(error["mismatches"] for error in opened.check(slot)):
            return None
    except CaseFailed:
        return None  # the cold batches went well, and they are what counts
    few, many = (median(times[length]) for length in lengths)
    slope = (many - few) / (lengths[1] - lengths[0])
    return slope if slope > 0 else None
