"""How many outputs of a timed batch are compared with the reference, so that time is left for batches. Pure.

A quick look compares with the reference in the task's own precision, an exact one with the float64 oracle;
either costs many times a call of milliseconds. What is left out is drawn after the batch.
"""

from dataclasses import dataclass
from random import Random

#: Quick looks of one batch: as many as this share of the batches' own time allows, and bounds.
_QUICK, _FEWEST, _MOST = 0.5, 2, 128
#: Of the time that batches and quick looks take, how much more may go into exact ones.
_EXACT = 0.15
#: Of the time for a case, how much may go into exact ones after a batch that is looked at closely.
_CLOSELY = 0.1


@dataclass
class Looks:
    """What was looked at so far in a case with ``budget`` seconds, and what it took."""

    budget: float
    batches: int = 0
    quick: int = 0
    exact: int = 0
    batch_seconds: float = 0.0  # filling inputs and running
    quick_seconds: float = 0.0
    exact_seconds: float = 0.0

    def spent(self) -> dict[str, float]:
        """Seconds by part, as contract/result.py names them."""
        return {
            "batches": self.batch_seconds,
            "quick_looks": self.quick_seconds,
            "exact_looks": self.exact_seconds,
        }

    def quick_ones(self) -> int:
        """Outputs of the next batch to look at."""
        if not (self.quick and self.quick_seconds and self.batches):
            return _FEWEST
        affordable = _QUICK * (self.batch_seconds / self.batches) / (self.quick_seconds / self.quick)
        return max(_FEWEST, min(_MOST, round(affordable)))

    def exact_ones(self) -> int:
        """Outputs to compare exactly after a batch that is looked at closely."""
        if not (self.exact and self.exact_seconds):
            return 1
        affordable = _CLOSELY * self.budget / (self.exact_seconds / self.exact)
        return max(1, min(_MOST, int(affordable)))

    def draws_an_exact_one(self, random: Random) -> bool:
        """Whether one output of the next batch is compared exactly: always while cheap, else as often as its
        share of the time allows, by an independent draw, so that no pause tells which batch comes next.
        """
        if not (self.exact and self.batches):
            return True
        per_batch = (self.batch_seconds + self.quick_seconds) / self.batches
        return random.random() * self.exact_seconds / self.exact < _EXACT * per_batch
