"""Scales learned from other devices: each in turn plays the new one, forecast from what the rest took.

How unlike one known device is to the others says how unlike a new one may be.
"""

from collections.abc import Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from surrogate.gaussian.covariance import Points, Scales
from surrogate.gaussian.model import log_likelihood

Floats = NDArray[np.float64]

#: Kernels looked at per device, half of them among the good ones: that is where searches end up.
_SAMPLE, _AMONG_BEST = 100, 0.1
_STEPS = 160


def learn_scales(settings: Floats, elsewhere: Floats, failed: NDArray[np.bool_], *, seed: int = 0) -> Scales:
    """Scales for a new device, from the devices in the columns of ``elsewhere``; ``failed`` has its shape.

    With fewer than two devices there is nothing to learn from, and the usual scales are returned.
    """
    start = Scales(lengths=(1.0,) * settings.shape[1])
    if elsewhere.shape[1] < 2:
        return start
    random = Random(seed)  # noqa: S311  a search must be repeatable, not secret
    samples = [
        _sample(settings, elsewhere, failed[:, device], device, random)
        for device in range(elsewhere.shape[1])
        if (~failed[:, device]).sum() > 1
    ]
    return _climb(start, samples, random)


def _sample(
    settings: Floats, elsewhere: Floats, failed: NDArray[np.bool_], device: int, random: Random
) -> tuple[Points, Floats]:
    """Points as seen from ``device``, with its departures from the mean of the others."""
    points = Points(settings, np.delete(elsewhere, device, axis=1))
    worked = np.flatnonzero(~failed)
    good = worked[np.argsort(points.expected[worked], kind="stable")]
    good = good[: max(_SAMPLE // 2, int(_AMONG_BEST * len(good)))]
    rows = set(random.sample(good.tolist(), min(_SAMPLE // 2, len(good))))
    rows |= set(random.sample(worked.tolist(), min(_SAMPLE // 2, len(worked))))
    chosen = np.array(sorted(rows))
    departures = elsewhere[chosen, device] - points.expected[chosen]
    return points.take(chosen), departures - departures.mean()


def _climb(start: Scales, samples: Sequence[tuple[Points, Floats]], random: Random) -> Scales:
    """One scale at a time, up or down, by steps that grow with success and shrink with failure."""
    origin = start.to_vector()

    def score(logs: Floats) -> float:
        scales = Scales.from_vector(logs)
        fit = sum(log_likelihood(points, departures, scales) for points, departures in samples)
        return float(fit - 0.5 * ((logs - origin) ** 2).sum())

    here, best = origin, score(origin)
    steps = np.full(len(origin), 0.7)
    for turn in range(_STEPS):
        place = turn % len(origin)
        tried = here.copy()
        tried[place] += steps[place] * random.choice((-1, 1))
        found = score(tried)
        if found > best:
            here, best = tried, found
            steps[place] *= 1.2
        else:
            steps[place] *= 0.7
    return Scales.from_vector(here)
