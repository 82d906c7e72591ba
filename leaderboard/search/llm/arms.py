"""Whom to ask: a model with an effort. Sampling has no temperature any more, so these are what can vary."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import get_args

from surrogate.llm.prices import UnknownPrice, price_of
from surrogate.llm.request import Effort
from surrogate.llm.usage import TokenUsage

#: Tokens that a first answer is expected to take, before there are any to count.
_EXPECTED_PROMPT, _EXPECTED_ANSWER = 5_000, 4_000
_EFFORTS: tuple[Effort, ...] = get_args(Effort)


@dataclass(frozen=True)
class Arm:
    """``effort`` None leaves it to the model."""

    model: str
    effort: Effort | None = None

    @property
    def name(self) -> str:
        """What logs and journals call it; a run whose list of models changes keeps what it knows by name."""
        return f"{self.model}:{self.effort}" if self.effort else self.model

    @property
    def expected_cost(self) -> float:
        """US dollars of one call, before any was made. Raises UnknownPrice."""
        factor = 1.0 if self.effort is None else 0.5 * 2 ** _EFFORTS.index(self.effort)
        usage = TokenUsage(input=_EXPECTED_PROMPT, output=int(_EXPECTED_ANSWER * factor))
        return float(max(price_of(self.model).cost(usage), Decimal("0.000001")))


def parse_arms(text: str) -> tuple[Arm, ...]:
    """``"claude-sonnet-5-5:high, claude-haiku-5-5"`` as arms. Raises ValueError naming the word at fault."""
    arms: list[Arm] = []
    for word in text.replace(",", " ").split():
        model, _, effort = word.partition(":")
        found: list[Effort] = [item for item in _EFFORTS if item == effort]
        if effort and not found:
            raise ValueError(f"{word!r}: the effort must be one of {', '.join(_EFFORTS)}")
        arm = Arm(model, found[0] if found else None)
        try:
            price_of(model)
        except UnknownPrice as error:
            raise ValueError(str(error)) from error
        if arm not in arms:
            arms.append(arm)
    if not arms:
        raise ValueError("no model is named")
    return tuple(arms)


def cheapest(arms: Sequence[Arm]) -> Arm:
    return min(arms, key=lambda arm: (arm.expected_cost, arm.name))
