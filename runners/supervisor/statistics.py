"""From raw batch times to seconds per call. Pure functions."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

_RESAMPLES = 2000
#: A first call may cost this share of a call more than the rest (wake-up, clock ramp) before it counts as
#: time.
_COLD_START = 0.25


@dataclass(frozen=True)
class Estimate:
    """Seconds per call with a 95 % confidence interval; ``intercept`` is the rest of a batch, and
    ``intercept_low`` the lower end of its interval.
    """

    seconds: float
    ci_low: float
    ci_high: float
    intercept: float
    intercept_low: float

    @property
    def half_width(self) -> float:
        """Half the interval, relative to the estimate; infinite when there is no positive one."""
        return (self.ci_high - self.ci_low) / 2 / self.seconds if self.seconds > 0 else math.inf

    def charged(self, allowed: float, calls: int) -> "Estimate":
        """The same with the standing cost of a batch shared out among its ``calls``, as far as it is certain
        and beyond ``allowed`` seconds and a cold start: a kernel that does the work of all calls in the first
        has there what it saves.
        """
        excess = max(0.0, self.intercept_low - allowed - _COLD_START * self.seconds) / calls
        return replace(
            self, seconds=self.seconds + excess, ci_low=self.ci_low + excess, ci_high=self.ci_high + excess
        )

    def at_least(self, seconds: float) -> "Estimate":
        """The same moved up to ``seconds``, if it is less."""
        more = max(0.0, seconds - self.seconds)
        return replace(
            self, seconds=self.seconds + more, ci_low=self.ci_low + more, ci_high=self.ci_high + more
        )


def estimate(samples: Mapping[int, Sequence[float]], null: float, seed: int) -> Estimate:
    """The slope between the two batch lengths in ``samples`` (calls → seconds of each batch).

    A kernel that dawdles in short batches would flatten the slope. So the slope is held against the long
    batches alone, less twice the ``null`` time of an empty batch and a quarter of a call: the larger one
    counts.
    """
    short, long = sorted(samples)
    few, many = np.asarray(samples[short]), np.asarray(samples[long])
    random = np.random.default_rng(seed)
    resampled_few = np.median(random.choice(few, (_RESAMPLES, few.size)), axis=1)
    resampled_many = np.median(random.choice(many, (_RESAMPLES, many.size)), axis=1)
    seconds = float(_per_call(np.median(few), np.median(many), short, long, null))
    spread = _per_call(resampled_few, resampled_many, short, long, null)
    low, high = (float(value) for value in np.quantile(spread, [0.025, 0.975]))
    intercept = float(np.median(few)) - short * seconds
    intercept_low = float(np.quantile(resampled_few - short * spread, 0.025))
    return Estimate(seconds, min(low, seconds), max(high, seconds), intercept, min(intercept_low, intercept))


def _per_call(few, many, short: int, long: int, null: float):  # type: ignore[no-untyped-def]
    slope = (many - few) / (long - short)
    conservative = (many - 2 * null - _COLD_START * slope) / long
    return np.maximum(slope, conservative)


def geometric_mean(values: Sequence[float]) -> float:
    """All ``values`` must be positive."""
    return math.exp(sum(map(math.log, values)) / len(values))
