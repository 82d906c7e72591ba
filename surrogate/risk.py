"""How often may a decision go wrong? Thresholds with a stated guarantee, from outcomes held out for it.

The guarantee is that of selection with guaranteed risk (Geifman & El-Yaniv 2017): with probability at least
1 − delta over the draw of the held-out outcomes, decisions taken at the threshold go wrong at most ``risk``
of the time. It needs new cases to be drawn like the held-out ones, and those to be independent: take one per
task (``one_per_group``). It says nothing about a device, a task family or a forecaster version that was not
among them.
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True)
class Scope:
    """Where outcomes came from: calibrations and guarantees hold there and nowhere else."""

    forecaster: str
    version: str
    device: str
    family: str


@dataclass(frozen=True)
class RiskThreshold:
    """Decisions with a score of at least ``score`` go wrong at most ``risk`` of the time, see the module.

    ``bound`` is the upper confidence bound found, ``covered`` of ``cases`` held-out cases lay above the
    threshold and ``errors`` of them went wrong.
    """

    score: float
    risk: float
    delta: float
    bound: float
    cases: int
    covered: int
    errors: int
    scope: Scope | None = None

    def doubt(self, scope: Scope) -> str:
        """Empty where the guarantee holds, else one sentence saying why it does not."""
        if self.scope is None:
            return "The threshold's outcomes come from no known place."
        if (scope.forecaster, scope.version) != (self.scope.forecaster, self.scope.version):
            return "The threshold was found for another version of the forecaster."
        if scope.device != self.scope.device:
            return "The threshold was found on another device."
        if scope.family != self.scope.family:
            return "The threshold was found on other tasks."
        return ""


def clopper_pearson_upper(errors: int, cases: int, delta: float) -> float:
    """The largest error rate under which ``errors`` or fewer of ``cases`` still has probability ``delta``."""
    if not (0 <= errors <= cases and cases > 0 and 0 < delta < 1):
        raise ValueError(f"no bound for {errors} errors in {cases} cases at delta {delta}")
    if errors == cases:
        return 1.0
    if errors == 0:
        return float(1 - delta ** (1 / cases))
    low, high = errors / cases, 1.0
    for _ in range(60):  # halves the interval; 60 times is past the precision of a float
        middle = (low + high) / 2
        if _binomial_cdf(errors, cases, middle) > delta:
            low = middle
        else:
            high = middle
    return high


def guaranteed_threshold(
    scores: Sequence[float],
    wrong: Sequence[bool],
    *,
    risk: float,
    delta: float = 0.1,
    scope: Scope | None = None,
) -> RiskThreshold | None:
    """The lowest threshold, so the most decisions, that keeps the promise; None if no threshold does.

    ``scores``: higher is surer; ``wrong``: what came of deciding. Binary search over the sorted scores; each
    of its steps is one bound, so each gets an equal part of ``delta``.
    """
    order = sorted(range(len(scores)), key=lambda index: -scores[index])
    # A threshold between equal scores cannot be acted on: only the last of equals can be one.
    ends = [
        place + 1
        for place in range(len(order))
        if place + 1 == len(order) or scores[order[place]] != scores[order[place + 1]]
    ]
    if not ends:
        return None
    failures = [0]
    for index in order:
        failures.append(failures[-1] + bool(wrong[index]))
    part = _part(delta, len(ends))
    # Fewer cases than this cannot prove the promise even without an error. Depends on counts alone.
    low = next((place for place, end in enumerate(ends) if clopper_pearson_upper(0, end, part) <= risk), None)
    if low is None:
        return None
    best: RiskThreshold | None = None
    high = len(ends) - 1
    while low <= high:
        middle = (low + high) // 2
        covered = ends[middle]
        bound = clopper_pearson_upper(failures[covered], covered, part)
        if bound <= risk:
            score = scores[order[covered - 1]]
            best = RiskThreshold(score, risk, delta, bound, len(scores), covered, failures[covered], scope)
            low = middle + 1
        else:
            high = middle - 1
    return best


def least_cases(risk: float, delta: float = 0.1) -> int:
    """The fewest held-out cases with which ``guaranteed_threshold`` finds one, were none of them wrong and
    all scores different."""
    cases = 1
    while clopper_pearson_upper(0, cases, _part(delta, cases)) > risk:
        cases += 1
    return cases


def one_per_group(groups: Sequence[Hashable], random: Random) -> list[int]:
    """One index of each group, drawn at random: cases of one task are not independent of each other."""
    members: dict[Hashable, list[int]] = defaultdict(list)
    for index, group in enumerate(groups):
        members[group].append(index)
    return [random.choice(indices) for indices in members.values()]


def _part(delta: float, thresholds: int) -> float:
    """The share of ``delta`` of one bound: a binary search over thresholds looks at so many at most."""
    return delta / (math.ceil(math.log2(thresholds)) + 1)


def _binomial_cdf(errors: int, cases: int, rate: float) -> float:
    if rate <= 0:
        return 1.0
    if rate >= 1:
        return 1.0 if errors >= cases else 0.0
    terms = [
        math.lgamma(cases + 1)
        - math.lgamma(count + 1)
        - math.lgamma(cases - count + 1)
        + count * math.log(rate)
        + (cases - count) * math.log1p(-rate)
        for count in range(errors + 1)
    ]
    top = max(terms)
    return min(1.0, math.exp(top) * sum(math.exp(term - top) for term in terms))
