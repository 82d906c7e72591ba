"""What became of a candidate, in one word: the colours and shapes of pages, and the filters of tables."""

from enum import StrEnum

from django.db.models import Q

from leaderboard.search.generators.base import Operator
from leaderboard.search.models import SearchCandidate
from leaderboard.search.plan import MOST_WAITING
from surrogate.policy import Action

Status = SearchCandidate.Status


class Kind(StrEnum):
    """In the order in which tables and legends name them. Pages send a kind as its place in this order."""

    MEASURED = "measured"
    AUDITED = "audited"  # measured although it was to be skipped, by lot
    MEASURING = "measuring"
    FAILED = "failed"
    DEFERRED = "deferred"  # not sure enough to skip: waits for a place
    SKIPPED = "skipped"
    DROPPED = "dropped"


#: The rows of each kind. Every candidate is of exactly one.
WHERE: dict[Kind, Q] = {
    Kind.MEASURED: Q(status=Status.MEASURED) & ~Q(action=Action.AUDIT),
    Kind.AUDITED: Q(status=Status.MEASURED, action=Action.AUDIT),
    Kind.MEASURING: Q(status=Status.MEASURING),
    Kind.FAILED: Q(status=Status.FAILED),
    Kind.DEFERRED: Q(status=Status.WAITING) & ~Q(action=Action.SKIP),
    Kind.SKIPPED: Q(status=Status.WAITING, action=Action.SKIP),
    Kind.DROPPED: Q(status=Status.DROPPED),
}

MEANINGS: dict[Kind, str] = {
    Kind.MEASURED: "ran on the device and has a time",
    Kind.AUDITED: "forecast not to be worth it, and measured all the same, by lot",
    Kind.MEASURING: "on the device, or in its queue",
    Kind.FAILED: "did not compile, was wrong, or broke a limit",
    Kind.DEFERRED: "worth measuring, and waits for a place",
    Kind.SKIPPED: "forecast not to be worth a measurement; forecast anew each generation, "
    f"as long as it is among the newest {MOST_WAITING:,} that wait",
    Kind.DROPPED: "stopped by a person, or lost through the site’s own fault",
}


#: What each operator does, for people who meet its name.
OPERATORS: dict[Operator, str] = {
    Operator.START: "the kernel that a search begins with: the starter, the template’s own settings",
    Operator.RECALL: "settings that were good on another device or in an earlier search",
    Operator.RANDOM: "settings drawn at random",
    Operator.NEIGHBOUR: "one parent, one setting changed a little",
    Operator.CROSSOVER: "settings of two parents mixed",
    Operator.TRANSLATE: "the reference written as a first correct kernel",
    Operator.REWRITE: "one parent, written anew",
    Operator.DIFF: "one parent, a few lines changed",
    Operator.COMBINE: "what two parents do well, in one kernel",
    Operator.DIFFERENT: "a kernel unlike several parents",
    Operator.REPAIR: "a kernel that failed, mended by what it failed by",
}
ISLAND = "a part of the search that builds on its own kernels and hears of its neighbour’s best now and then"


def kind_of(status: str, action: str) -> Kind:
    if status == Status.MEASURED:
        return Kind.AUDITED if action == Action.AUDIT else Kind.MEASURED
    if status == Status.WAITING:
        return Kind.SKIPPED if action == Action.SKIP else Kind.DEFERRED
    return Kind(str(status))
