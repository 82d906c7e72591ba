"""Whether what is left still pays for findings and for a prompt that they can stand in. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from leaderboard.search.generators.base import Operator, Parent
from leaderboard.search.llm import prompts
from leaderboard.search.llm.arms import Arm, cheapest
from leaderboard.search.llm.condensing import MOST_READ, condense
from leaderboard.search.llm.prompts import Brief
from surrogate.llm.prices import upper_bound
from surrogate.llm.request import Request


@dataclass(frozen=True)
class Left:
    """US dollars and tokens that calls may still take; ``tokens`` None sets no limit of its own."""

    money: Decimal
    tokens: int | None

    def pays_for(self, *calls: tuple[Arm, Request]) -> bool:
        """Whether one attempt of each fits, one after the other."""
        money = sum((bound_of(arm, request) for arm, request in calls), Decimal(0))
        return money <= self.money and (
            self.tokens is None or sum(tokens_of(request) for _, request in calls) <= self.tokens
        )


def bound_of(arm: Arm, request: Request) -> Decimal:
    """The most that one attempt should cost, US dollars."""
    return upper_bound(arm.model, request.prompt_bytes, request.max_tokens)


def tokens_of(request: Request) -> int:
    """The most that one attempt should take, as ``upper_bound`` counts them."""
    return request.prompt_bytes // 2 + 500 + request.max_tokens


def pays_for_findings(brief: Brief, arms: Sequence[Arm], parent: Parent, left: Left) -> bool:
    """Whether ``left`` has room for condensing a profile of ``parent`` and for a kernel built on it.

    Where no writer can be paid any more the search goes on with the kernels that it has: nothing that is
    found out about them then comes into a prompt.
    """
    reader = cheapest(arms)
    reading = reader, condense(brief, parent.kernel.source, "x" * MOST_READ, reader.effort)
    writing = (
        (arm, prompts.write(brief, Operator.REWRITE, [(parent, None)], (), arm.effort)) for arm in arms
    )
    return any(left.pays_for(reading, call) for call in writing)
