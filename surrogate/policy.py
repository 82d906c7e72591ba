"""Skip, defer, measure or audit: what to do with a kernel, given its forecast. Pure, no clock, no database.

* skip: the forecast is sure that the kernel does not beat the incumbent;
* measure: it is likely to, and worth its device time;
* defer: the forecast is not sure enough, so the device decides;
* audit: a skip that is measured all the same, drawn at random, so that skipping is judged on all kernels and
  not only on those that were measured anyway.
"""

from dataclasses import dataclass
from enum import StrEnum

from surrogate.contract.forecast import Abstention, Forecast
from surrogate.risk import RiskThreshold, Scope

#: What guarantees of skips promise: at most this share of the skipped beat the incumbent, with confidence
#: 1 − DELTA.
RISK, DELTA = 0.1, 0.1
TOO_FEW = "Too few outcomes for a guaranteed threshold."


class Action(StrEnum):
    SKIP = "skip"
    DEFER = "defer"
    MEASURE = "measure"
    AUDIT = "audit"


@dataclass(frozen=True)
class Rules:
    """What a search sets once."""

    #: Share of skipped kernels that are measured all the same. Above zero: else calibration cannot be judged.
    audit_rate: float = 0.05
    #: P(beats the incumbent) from which a kernel counts as likely.
    likely: float = 0.5
    #: P(correct) below which a kernel is not worth measuring; 0 leaves correctness to the device.
    least_p_correct: float = 0.0
    #: Without a guaranteed threshold, P(beats the incumbent) must be below this to skip.
    unguaranteed_skip: float = 0.02

    def __post_init__(self) -> None:
        for name in ("audit_rate", "likely", "least_p_correct", "unguaranteed_skip"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be between 0 and 1")


@dataclass(frozen=True)
class Situation:
    """Where the search stands. All ratios are to the forecast's anchor.

    ``incumbent`` is the speed-up of the best kernel so far over the anchor (1 when it is the anchor);
    ``device_seconds`` what one measurement costs, ``remaining_seconds`` what is left of the budget.
    """

    incumbent: float
    device_seconds: float
    remaining_seconds: float
    scope: Scope
    threshold: RiskThreshold | None = None
    no_threshold: str = TOO_FEW  # why there is none


@dataclass(frozen=True)
class Decision:
    """``guarantee`` says what is promised of a skip, or why nothing."""

    action: Action
    reason: str
    p_better: float | None
    guarantee: str = ""
    is_guaranteed: bool = False  # it is a skip, or the audit of one, that the guarantee covers


class Ground(StrEnum):
    """Why a kernel is skipped, or would be were it not drawn for an audit."""

    LOSES = "loses"  # surely enough it does not beat the incumbent
    FAILS = "fails"  # it is hardly correct


@dataclass(frozen=True)
class Bar:
    """How sure a skip must be: ``score`` is the least P(the kernel does not beat the incumbent).

    ``promise`` says what is guaranteed of such skips, or why nothing.
    """

    score: float
    promise: str
    is_guaranteed: bool = False


def skip_score(forecast: Forecast, incumbent: float) -> float:
    """P(the kernel does not beat the incumbent); thresholds are over this score.

    Against an incumbent inside the fastest bin all of the bin may beat it, or nothing would ever be measured
    again on a task whose best is far ahead of its anchor.
    """
    return 1.0 - forecast.most_faster_than(incumbent)[0]


def bar_for(
    scope: Scope, threshold: RiskThreshold | None, rules: Rules, *, no_threshold: str = TOO_FEW
) -> Bar:
    """The guaranteed threshold where it holds for ``scope``, else the careful one of the rules."""
    doubt = threshold.doubt(scope) if threshold is not None else no_threshold
    if threshold is None or doubt:
        return Bar(1 - rules.unguaranteed_skip, f"No guarantee. {doubt}")
    promise = (
        f"At most {threshold.risk:.0%} of skipped kernels beat the best kernel so far, with "
        f"{1 - threshold.delta:.0%} confidence, for new kernels like the {threshold.cases} held out."
    )
    return Bar(threshold.score, promise, is_guaranteed=True)


def judge(
    score: float, p_better: float, p_correct: float | None, bar: Bar, rules: Rules, *, is_drawn: bool
) -> tuple[Action, Ground | None]:
    """The rules themselves, on the numbers of one forecast: the action, and on what ground one is skipped.

    ``is_drawn``: the kernel is measured even if it is to be skipped. Makes no sentences, as searches ask it
    for thousands of kernels at a time.
    """
    if score >= bar.score:
        return Action.AUDIT if is_drawn else Action.SKIP, Ground.LOSES
    if p_correct is not None and p_correct < rules.least_p_correct:
        return Action.AUDIT if is_drawn else Action.SKIP, Ground.FAILS
    return Action.MEASURE if p_better >= rules.likely else Action.DEFER, None


def decide(forecast: Forecast | Abstention, situation: Situation, rules: Rules, draw: float) -> Decision:
    """The decision for one kernel. ``draw`` is a uniform random number in [0, 1), fresh for each kernel."""
    if situation.device_seconds > situation.remaining_seconds:
        return Decision(Action.SKIP, "The budget does not pay for another measurement.", None)
    if isinstance(forecast, Abstention):
        return Decision(Action.DEFER, f"There is no forecast: {forecast.message}", None)
    p_better = forecast.p_faster_than(situation.incumbent)
    score = skip_score(forecast, situation.incumbent)
    bar = bar_for(situation.scope, situation.threshold, rules, no_threshold=situation.no_threshold)
    action, ground = judge(score, p_better, forecast.p_correct, bar, rules, is_drawn=draw < rules.audit_rate)
    if ground == Ground.FAILS:
        reason = f"It is correct with probability {forecast.p_correct:.0%} only."
    elif ground == Ground.LOSES:
        reason = f"It beats the best kernel so far with probability {1 - score:.1%} only."
    elif action == Action.MEASURE:
        reason = f"It beats the best kernel so far with probability {p_better:.0%}."
    else:
        reason = f"Not sure enough: it beats the best kernel so far with probability {p_better:.0%}."
    if action == Action.AUDIT:
        reason = f"Drawn for an audit. {reason}"
    promise = "No guarantee covers correctness." if ground == Ground.FAILS else bar.promise
    is_guaranteed = ground == Ground.LOSES and bar.is_guaranteed
    return Decision(action, reason, p_better, promise, is_guaranteed)
