"""Asking a forecaster about every examined record."""

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from surrogate.contract.forecast import Abstention, Forecast
from surrogate.datasets.record import Record
from surrogate.evaluation.splits import Fold
from surrogate.forecasters.base import Forecaster, LearningForecaster
from surrogate.history import History

#: Requests per call of a forecaster.
BATCH = 256


@dataclass(frozen=True)
class Scored:
    """One examined record and what was said of it."""

    record: Record
    answer: Forecast | Abstention
    fold: str


@dataclass
class Run:
    """``seconds`` is the time spent forecasting, learning not counted."""

    rows: list[Scored] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0


def evaluate(
    build: Callable[[], Forecaster], parts: Sequence[Fold], *, limit: int | None = None, seed: int = 0
) -> Run:
    """A fresh forecaster per fold, taught on its training records and asked about its test records.

    ``limit`` bounds the examined records of all folds together, drawn at random, for slow forecasters.
    """
    run = Run()
    chosen = _drawn(parts, limit, seed)
    for fold in parts:
        test = [item for item in fold.test if chosen is None or id(item) in chosen]
        run.counts["dropped_near_duplicates"] += fold.dropped
        if not test:
            continue
        forecaster = build()
        outcomes = [item.outcome for item in fold.train]
        if isinstance(forecaster, LearningForecaster):
            forecaster.fit(outcomes)
        history = History(outcomes)
        for start in range(0, len(test), BATCH):
            batch = test[start : start + BATCH]
            requests = [history.attach(item.outcome.request) for item in batch]
            started = time.monotonic()
            answers = forecaster.forecast(requests)
            run.seconds += time.monotonic() - started
            run.rows += [Scored(item, answer, fold.name) for item, answer in zip(batch, answers, strict=True)]
    run.counts["examined"] = len(run.rows)
    for row in run.rows:
        if isinstance(row.answer, Abstention):
            run.counts["abstained"] += 1
            run.counts[f"abstained_{row.answer.reason}"] += 1
        if row.record.outcome.log2_ratio is None:
            run.counts["failed_kernels"] += 1
    return run


def _drawn(parts: Sequence[Fold], limit: int | None, seed: int) -> set[int] | None:
    everything = [item for fold in parts for item in fold.test]
    if limit is None or limit >= len(everything):
        return None
    drawn = random.Random(seed).sample(everything, limit)  # noqa: S311 - a repeatable sample
    return {id(item) for item in drawn}
