"""How pages of searches write what a run used, and name what became of a candidate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import template

from leaderboard.search.kinds import MEANINGS, Kind
from leaderboard.search.models import RunStatus, SearchRun, StopReason
from leaderboard.search.pages.overview import ARMS, Meter
from leaderboard.search.plan import Policy
from leaderboard.search.selectors.candidates import Counts, Row
from leaderboard.templatetags.formats import NONE, SPACE, clock, number

register = template.Library()

#: Why what was to be measured was not, once nothing more will be.
_TOO_LATE = {
    StopReason.MEASUREMENTS: "the measurements were used up first",
    StopReason.DEVICE_SECONDS: "the device time was used up first",
    StopReason.WALL_SECONDS: "the time was up first",
    StopReason.TOKENS: "the tokens were used up first",
    StopReason.MONEY: "the money was used up first",
    StopReason.EXHAUSTED: "the search ended before",
    StopReason.CANCELLED: "the search was cancelled",
    StopReason.CHANGED: "the task or the device changed",
}
#: What ``surrogate.policy`` means by its words.
_ACTIONS = {
    "measure": "likely to beat the best so far",
    "defer": "too unsure to skip: the device decides, if its turn comes",
    "skip": "forecast to lose to the best so far, or hardly to work: not worth a measurement",
    "audit": "a skip that is measured all the same, drawn by lot, so that skips are checked",
}
#: And by top k, which takes those that look fastest, however likely others are to win.
_TOPK_ACTIONS = {"measure": "among the few that look fastest", "skip": "others look faster"}
#: Kinds that the device has seen, in the order of the table of an ended run.
_RAN = (Kind.MEASURED, Kind.AUDITED, Kind.MEASURING, Kind.FAILED)


@register.filter
def thousands(value: Any) -> str:
    """A count in groups of three, e.g. ``12 345``."""
    amount = number(value)
    return NONE if amount is None else f"{amount:,.0f}".replace(",", SPACE)


@register.filter
def listed(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; names with commas of their own are kept apart by semicolons."""
    if any("," in name for name in names):
        return "; ".join(names)
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


@register.filter
def dollars(value: Any) -> str:
    """Money, e.g. ``$0.0123``: more digits where there is little of it."""
    amount = number(value)
    if amount is None:
        return NONE
    return f"${amount:.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


@register.filter
def used(value: Any, meter: Meter) -> str:
    """An amount of a budget in the meter's unit."""
    if meter.unit == "seconds":
        return clock(value) if value else f"0{SPACE}s"
    return dollars(value) if meter.unit == "dollars" else thousands(value)


@register.filter
def within(spread: Any) -> str:
    """A spread in octaves as the factor that one standard deviation is, e.g. ``×/÷ 1.3``."""
    amount = number(spread)
    return "" if amount is None else f"×/÷{SPACE}{2**amount:.2f}"


@register.filter
def arm(policy: Any) -> str:
    """What an arm of a search is called."""
    return ARMS[Policy(policy)][0] if policy in list(Policy) else str(policy)


@register.filter
def arm_meaning(policy: Any) -> str:
    return ARMS[Policy(policy)][1] if policy in list(Policy) else ""


@register.filter
def settings_of(parameters: Any) -> list[list[str]]:
    """A template's parameters, e.g. ``rows=4``, each in the parts between which a line may break."""
    lines = (f"{name}={value}" for name, value in sorted(parameters.items())) if parameters else ()
    return [line.replace(",", ",\n").split("\n") for line in lines]


@register.filter
def kind_name(kind: str, run: SearchRun) -> str:
    """A candidate's kind as pages name it: in a run that has ended nothing is deferred any more."""
    if kind == Kind.DEFERRED and run.status == RunStatus.FINISHED:
        return "not measured"
    return "measuring or queued" if kind == Kind.MEASURING else str(kind)


@register.filter
def kind_meaning(kind: str, run: SearchRun) -> str:
    if run.status == RunStatus.FINISHED:
        if kind == Kind.DEFERRED:
            return _TOO_LATE[StopReason(run.stop_reason)]
        if kind == Kind.SKIPPED:
            return "forecast not to be worth a measurement"
    return MEANINGS[Kind(kind)]


@register.filter
def fates(counts: Counts, run: SearchRun) -> list[tuple[str, int, str]]:
    """Name, number and meaning of what was never measured, for a run that has ended."""
    return [
        (kind_name(kind, run), number, kind_meaning(kind, run))
        for kind, number in counts.kinds.items()
        if kind not in _RAN
    ]


@register.filter
def that_ran(rows: Sequence[Row]) -> list[Row]:
    """Rows that the device has seen, those with a time first, otherwise in their order."""
    return sorted((row for row in rows if row.kind in _RAN), key=lambda row: row.candidate.seconds is None)


@register.filter
def never_ran(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.kind not in _RAN]


@dataclass(frozen=True)
class Failure:
    """Candidates that failed alike."""

    verdict: str
    why: str
    numbers: list[int]


@register.filter
def failures(rows: Sequence[Row]) -> list[Failure]:
    """What the failed ones among ``rows`` failed by, the most frequent first."""
    found: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        if row.kind == Kind.FAILED and row.why:
            found.setdefault((row.verdict, row.why), []).append(row.candidate.number)
    groups = [Failure(verdict, why, sorted(numbers)) for (verdict, why), numbers in found.items()]
    return sorted(groups, key=lambda group: -len(group.numbers))


@register.filter
def action_meaning(action: str, policy: str) -> str:
    return _meanings(policy).get(action, "")


@register.simple_tag
def action_meanings(policy: str) -> list[tuple[str, str]]:
    return list(_meanings(policy).items())


def _meanings(policy: str) -> Mapping[str, str]:
    return _TOPK_ACTIONS if policy == Policy.TOPK else _ACTIONS


@register.filter
def best_so_far(reason: str) -> str:
    """A sentence without the word of the literature for the best kernel measured so far.

    Searches stored it with their candidates before their sentences were in plain words.
    """
    return reason.replace("the incumbent", "the best kernel so far")
