"""What to ask for next: a first kernel, a repair, or a change of what works. Pure and repeatable."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from leaderboard.search.generators.base import Operator, Parent, good_parent
from leaderboard.search.llm.bandit import weighted
from leaderboard.search.llm.journal import Document
from leaderboard.search.llm.outcomes import Outcome

#: Repairs of one kernel, one after the other, before it is given up.
MOST_REPAIRS = 3
#: First kernels that may fail before the search builds on the starter instead.
MOST_TRANSLATIONS = 6
#: Kernels that a new one is to differ from.
_SHOWN_AVOIDED = 3

_WEIGHTS: Mapping[Operator, float] = {
    Operator.DIFF: 0.35,
    Operator.REWRITE: 0.3,
    Operator.COMBINE: 0.15,
    Operator.DIFFERENT: 0.2,
}
_REPAIR_SHARE = 0.25


@dataclass(frozen=True)
class Move:
    """``repairs`` is the digest of a kernel that failed; ``avoid`` lists digests not to come near."""

    operator: Operator
    parents: tuple[Parent, ...] = ()
    repairs: str = ""
    avoid: tuple[str, ...] = ()


def choose(
    written: Mapping[str, Document],
    outcomes: Mapping[str, Outcome],
    parents: Sequence[Parent],
    random: Random,
    *,
    independent: bool = False,
    taken: Sequence[str] = (),
) -> Move:
    """The next move of the three stages: translate until something works, then evolve, repairing on the way.

    ``written`` are this search's kernels as the book has them, oldest first; ``parents`` come best first.
    ``taken`` are repairs that were chosen already; ``independent`` samples do not learn from each other.
    """
    if independent:
        return Move(Operator.TRANSLATE)
    broken = _repairable(written, outcomes, taken)
    works = any(digest in outcomes and outcomes[digest].worked for digest in written)
    failed = sum(digest in outcomes and not outcomes[digest].worked for digest in written)
    if not parents or (not works and failed < MOST_TRANSLATIONS):
        if broken:
            return Move(Operator.REPAIR, repairs=broken[-1])
        return Move(Operator.TRANSLATE, tuple(parents[:1]))
    if broken and random.random() < _REPAIR_SHARE:
        return Move(Operator.REPAIR, repairs=broken[-1])
    weights = [
        (str(operator), weight)
        for operator, weight in _WEIGHTS.items()
        if operator != Operator.COMBINE or len(parents) > 1
    ]
    operator = Operator(weighted(weights, random))
    if operator == Operator.DIFFERENT:
        return Move(operator, avoid=tuple(parent.digest for parent in parents[:_SHOWN_AVOIDED]))
    one = good_parent(parents, random)
    if operator == Operator.COMBINE:
        other = good_parent([item for item in parents if item.digest != one.digest], random)
        return Move(operator, (one, other))
    return Move(operator, (one,))


def _repairable(
    written: Mapping[str, Document], outcomes: Mapping[str, Outcome], taken: Sequence[str]
) -> list[str]:
    """Failed kernels that nobody has repaired yet and that were not repaired too often, oldest first."""
    done = {str(item["repairs_of"]) for item in written.values()} | set(taken)
    return [
        digest
        for digest, item in written.items()
        if digest in outcomes
        and not outcomes[digest].worked
        and digest not in done
        and int(item["repairs"]) < MOST_REPAIRS
    ]
