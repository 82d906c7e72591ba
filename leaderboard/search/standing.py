"""What earlier searches of one place taught of a surrogate's forecasts, and so what a new search may rely on.

Fixed when a search begins: its own outcomes do not judge it, and its log says what it went by. Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from leaderboard.search.outlook import Outlook
from surrogate.calibration import MINIMUM
from surrogate.policy import DELTA, RISK, TOO_FEW, Bar, Rules, bar_for
from surrogate.risk import RiskThreshold, Scope, guaranteed_threshold, least_cases

#: Outcomes that stand for the forecasts being right as they are, when their doubt is corrected.
_BELIEVED = 10
#: Standard deviations that an outcome counts as at most: one kernel that hung must not widen all doubt.
_MOST_OFF = 6.0


@dataclass(frozen=True)
class Case:
    """A kernel that was forecast, then measured: how surely it was to lose, whether it won all the same, and
    how many of its stated standard deviations the time was off (None: it failed)."""

    digest: str
    score: float
    is_wrong: bool
    off: float | None


@dataclass(frozen=True)
class Standing:
    """``temperature`` multiplies the variance of every forecast; ``outcomes`` it was learned from."""

    scope: Scope
    threshold: RiskThreshold | None = None
    no_threshold: str = TOO_FEW
    temperature: float = 1.0
    outcomes: int = 0

    def bar(self, rules: Rules, outlook: Outlook | None = None) -> Bar:
        """For skips on the word of ``outlook``, which may be of a newer version than when the run began."""
        scope = self.scope
        if outlook is not None:
            scope = Scope(outlook.name, outlook.version, scope.device, scope.family)
        return bar_for(scope, self.threshold, rules, no_threshold=self.no_threshold)

    @property
    def calibration(self) -> str:
        """One sentence."""
        if self.temperature == 1.0:
            return f"The doubt is as stated: {MINIMUM} outcomes are needed to correct it."
        return f"The doubt is {self.temperature**0.5:.2f} times as stated, by {self.outcomes} outcomes."

    def to_document(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Standing":
        threshold = document["threshold"]
        if threshold is not None:
            threshold = RiskThreshold(**{**threshold, "scope": Scope(**threshold["scope"])})
        return cls(**{**document, "scope": Scope(**document["scope"]), "threshold": threshold})


def unguaranteed(rules: Rules) -> Bar:
    """Where no record is kept: a search without a database, a replay."""
    return Bar(1 - rules.unguaranteed_skip, f"No guarantee. {TOO_FEW}")


def standing_of(scope: Scope, cases: Sequence[Case], rules: Rules) -> Standing:
    """What ``cases``, oldest first, allow.

    The kernels that a search measured are those with most to gain and the audited ones. Of equally doubtful
    ones those with more to gain win no less often than the ones left out, so what holds of them holds of
    what is skipped. Settings that came again are one case, the first.
    """
    losing = list({case.digest: case for case in reversed(cases) if case.score > 1 - rules.likely}.values())
    scores, wrong = [case.score for case in losing], [case.is_wrong for case in losing]
    threshold = guaranteed_threshold(scores, wrong, risk=RISK, delta=DELTA, scope=scope)
    temperature, outcomes = _temperature([case.off for case in cases if case.off is not None])
    return Standing(scope, threshold, "" if threshold else _why_none(len(losing)), temperature, outcomes)


def _why_none(cases: int) -> str:
    needed = least_cases(RISK, DELTA)
    if cases < needed:
        return f"Earlier searches measured {cases} kernels that were forecast to lose; it takes {needed}."
    return f"Too many of {cases} kernels that were forecast to lose won all the same."


def _temperature(off: Sequence[float]) -> tuple[float, int]:
    """(the variance that makes the outcomes likeliest, as a multiple of the stated one; their number)."""
    if len(off) < MINIMUM:
        return 1.0, len(off)
    squares = sum(min(abs(value), _MOST_OFF) ** 2 for value in off)
    return (squares + _BELIEVED) / (len(off) + _BELIEVED), len(off)
