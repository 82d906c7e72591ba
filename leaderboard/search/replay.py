"""A whole search of a recorded pool: every answer is known, so no device is needed."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from threadpoolctl import threadpool_limits

from leaderboard.search import loop
from leaderboard.search.gaussian_outlook import GaussianOutlook
from leaderboard.search.generators.base import Generator
from leaderboard.search.generators.grid import Mix
from leaderboard.search.generators.listed import ListedGenerator
from leaderboard.search.generators.recorded import Pool, RecordedGenerator
from leaderboard.search.outlook import Outlook
from leaderboard.search.plan import Plan
from leaderboard.search.recall import recall_order
from leaderboard.search.recordings import Recording
from leaderboard.search.state import Generation, SearchState
from leaderboard.search.text_outlook import TextOutlook
from surrogate.policy import Action


@dataclass(frozen=True)
class Replayed:
    """``seconds`` in order of measuring, None where a setting failed."""

    seconds: list[float | None]
    considered: int
    audits: int
    skipped: int  # considered, never measured, and forecast not to be worth it at the end
    skipped_better: int  # of these, how many would have beaten the best found


class Arena:
    """One pool to search, with the other devices' pools as history. Recordings of runs have no history."""

    def __init__(self, pool: Pool | Recording, others: Sequence[Pool] = (), *, recall: bool = True) -> None:
        self.pool = pool
        self.outlook: Outlook
        self._generator: Generator
        self._alone: Generator
        if isinstance(pool, Recording):
            self.outlook = TextOutlook() if pool.grid is None else GaussianOutlook(pool.grid)
            self._generator = ListedGenerator(pool)
            self._alone = ListedGenerator(pool, independent=True)
        else:
            histories = [other.seconds for other in others]
            self.outlook = GaussianOutlook(pool.grid, histories)
            self._generator = RecordedGenerator(pool, recalled=recall_order(histories) if recall else [])
            self._alone = RecordedGenerator(pool, mix=Mix(random=1.0, recall=0.0))

    def run(self, plan: Plan, measurements: int) -> Replayed:
        """A search of ``measurements``; a failed setting costs one like any other."""
        state = SearchState(plan.islands, plan.migrate_every)
        if isinstance(self.pool, Recording) and self.pool.opening is not None:
            self._measure(state, loop.opening(self.pool.opening))  # as the run did
        generator = self._generator if plan.policy != "random" else self._alone
        outlook = self.outlook if plan.policy.asks_surrogate else None
        with threadpool_limits(1):
            while len(state.outcomes) < measurements:
                left = measurements - len(state.outcomes)
                generation = loop.step(state, generator, outlook, plan, slots=left)
                self._measure(state, generation)
                if not generation.chosen:
                    break
        return self._summary(state)

    def _measure(self, state: SearchState, generation: Generation) -> None:
        state.consider(generation)
        for digest in generation.chosen:
            seconds = self.pool.outcome(state.candidates[digest].proposal)
            state.measure(digest, None if seconds is None else log2(seconds))

    def _summary(self, state: SearchState) -> Replayed:
        measured = [self.pool.outcome(item) for item in state.kernels(state.outcomes)]
        skipped = [
            self.pool.outcome(state.candidates[digest].proposal)
            for digest in state.waiting
            if state.candidates[digest].decision.action == Action.SKIP
        ]
        best = min((item for item in measured if item is not None), default=float("inf"))
        return Replayed(
            measured,
            len(state.candidates),
            sum(state.candidates[digest].decision.action == Action.AUDIT for digest in state.outcomes),
            len(skipped),
            sum(item is not None and item < best for item in skipped),
        )
