"""A kernel that was measured before: its own record says more than all that forecasters infer of it."""

from bisect import bisect_right
from dataclasses import replace

from surrogate.contract import bins
from surrogate.contract.forecast import Abstention, Forecast
from surrogate.contract.repeats import Repeats

#: Changes whenever the same record may give another forecast.
VERSION = "repeats-1"
#: What is left for a measurement that differs from the earlier ones, and how far it may, octaves.
_SURPRISE, _SURPRISE_SPREAD = 0.05, 0.25


def with_repeats(answer: Forecast | Abstention, repeats: Repeats) -> Forecast | Abstention:
    """``answer`` where nothing is known of the kernel itself. Else its record decides on correctness, and on
    the time if it was timed here; such a forecast has a version, and so a calibration, of its own."""
    p_correct, ratio = repeats.p_correct, repeats.log2_ratio
    if p_correct is None:
        return answer
    if ratio is not None:
        runs = len(repeats.log2_ratios)
        often = "once" if runs == 1 else f"{runs} times"
        return Forecast.of(
            _at(ratio, repeats.noise),
            forecaster=answer.forecaster,
            version=VERSION,
            p_correct=p_correct,
            rationale=f"The same source was timed on this device before, {often}.",
            usage=answer.usage,
        )
    if isinstance(answer, Abstention):
        return answer
    return replace(answer, p_correct=p_correct, version=f"{answer.version}-{VERSION}")


def _at(log2_ratio: float, noise: float) -> list[float]:
    """Masses whose mean is ``log2_ratio`` but for a little: the two bins around it share them.

    A speed-up past the midpoints of the open bins cannot be told, and gets all of that bin.
    """
    middles = [bins.midpoint(index) for index in range(bins.COUNT)]
    masses = [0.0] * bins.COUNT
    right = bisect_right(middles, log2_ratio)
    if right in (0, bins.COUNT):
        masses[min(right, bins.COUNT - 1)] = 1.0
    else:
        share = (log2_ratio - middles[right - 1]) / (middles[right] - middles[right - 1])
        masses[right - 1], masses[right] = 1 - share, share
    surprise = min(1.0, _SURPRISE + noise / _SURPRISE_SPREAD)
    spread = bins.normal(log2_ratio, max(_SURPRISE_SPREAD, noise))
    return [(1 - surprise) * mass + surprise * other for mass, other in zip(masses, spread, strict=True)]
