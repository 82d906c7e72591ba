"""Which arm to pull next: the one that promises most for the money. Pure; equal seeds, equal choices.

Thompson sampling over the mean reward of an arm, divided by what one of its calls costs. Arms are known by
name, so that a list that changes between two sittings loses nothing, and new arms start fresh.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

#: What an arm is taken for before it was pulled: so many calls of such a reward.
PRIOR_PULLS, PRIOR_REWARD = 1.0, 0.5
#: Standard deviation of one reward.
_NOISE = 0.5


@dataclass
class Record:
    """``cost`` is in any unit, the same for all arms; ``waiting`` calls have no reward yet."""

    pulls: int = 0
    reward: float = 0.0
    cost: float = 0.0
    waiting: int = 0


@dataclass
class Bandit:
    records: dict[str, Record] = field(default_factory=dict)

    def paid(self, arm: str, cost: float) -> None:
        """A call was made; its reward comes later."""
        record = self.records.setdefault(arm, Record())
        record.pulls += 1
        record.cost += max(0.0, cost)
        record.waiting += 1

    def rewarded(self, arm: str, reward: float) -> None:
        record = self.records.setdefault(arm, Record())
        record.waiting = max(0, record.waiting - 1)
        record.reward += min(max(reward, 0.0), 1.0)

    def choose(self, expected_costs: Mapping[str, float], random: Random) -> str:
        """One of the arms of ``expected_costs``, which says what a call costs where none was made yet."""
        return max(
            expected_costs, key=lambda arm: self._draw(arm, random) / self.cost_of(arm, expected_costs[arm])
        )

    def cost_of(self, arm: str, expected: float) -> float:
        """Mean cost of a call, the expectation counting as one call."""
        record = self.records.get(arm, Record())
        return max((record.cost + PRIOR_PULLS * expected) / (record.pulls + PRIOR_PULLS), 1e-9)

    def mean(self, arm: str) -> float:
        """Expected reward. Calls whose reward is not in yet say nothing."""
        record = self.records.get(arm, Record())
        known = record.pulls - record.waiting
        return (record.reward + PRIOR_PULLS * PRIOR_REWARD) / (known + PRIOR_PULLS)

    def _draw(self, arm: str, random: Random) -> float:
        record = self.records.get(arm, Record())
        spread = _NOISE / math.sqrt(record.pulls - record.waiting + PRIOR_PULLS)
        return max(random.gauss(self.mean(arm), spread), 1e-3)


def weighted(weights: Sequence[tuple[str, float]], random: Random) -> str:
    """A name, as likely as its weight."""
    return random.choices([name for name, _ in weights], [weight for _, weight in weights])[0]


def reward_of(log2_seconds: float | None, incumbent: float, *, is_new_best_of: float = 2.0) -> float:
    """What one answer was worth, 0 to 1: octaves gained on the best so far, a little for working at all.

    ``incumbent`` is infinite while nothing was measured; ``is_new_best_of`` octaves count as the whole.
    """
    if log2_seconds is None:
        return 0.0
    if not math.isfinite(incumbent):
        return 0.5
    gained = (incumbent - log2_seconds) / is_new_best_of
    return 0.05 + 0.95 * min(max(gained, 0.0), 1.0)
