"""What a search sets once, and the words of its decisions."""

from dataclasses import dataclass, field
from enum import StrEnum

from surrogate.policy import Rules

#: Candidates considered per measurement, at most; as many take the whole of any pool.
MOST_MULTIPLE = 65_536
#: Waiting candidates that a step forecasts again, of more the newest: a step must not take ever longer.
MOST_WAITING = 4096


class Policy(StrEnum):
    """Who decides which candidates are measured. All but the first are controls of equal budget."""

    SURROGATE = "surrogate"  # forecasts with their doubt: skip, defer, measure, audit
    TOPK = "topk"  # the same forecasts without their doubt: the k that look fastest
    NONE = "none"  # no forecasts: every candidate is measured
    RANDOM = "random"  # no forecasts and no parents: independent samples, the best of n

    @property
    def asks_surrogate(self) -> bool:
        return self in (Policy.SURROGATE, Policy.TOPK)

    @property
    def may_promise(self) -> bool:
        """Whether skips are of what is forecast to lose; top k leaves out what others look faster than."""
        return self == Policy.SURROGATE


@dataclass(frozen=True)
class Plan:
    """``slots`` candidates are measured in a generation, ``multiple`` times as many considered."""

    policy: Policy = Policy.SURROGATE
    seed: int = 0
    slots: int = 4
    multiple: int = 4
    islands: int = 2
    migrate_every: int = 5  # generations
    rules: Rules = field(default_factory=Rules)  # audit_rate here is a share of the measurements

    def __post_init__(self) -> None:
        for name, least, most in (
            ("slots", 1, 64),
            ("multiple", 1, MOST_MULTIPLE),
            ("islands", 1, 16),
            ("migrate_every", 1, 1000),
        ):
            if not least <= getattr(self, name) <= most:
                raise ValueError(f"{name} must be between {least} and {most}, not {getattr(self, name)}")

    @property
    def considered(self) -> int:
        """New candidates in a generation; without forecasts there is no use for more than are measured."""
        return self.slots * (self.multiple if self.policy.asks_surrogate else 1)
