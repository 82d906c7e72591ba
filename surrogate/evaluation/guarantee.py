"""Does the promise of the skip threshold hold? Calibrate on half of the tasks, judge on the rest, often."""

import random
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from surrogate.contract.forecast import Forecast
from surrogate.evaluation.run import Scored
from surrogate.policy import skip_score
from surrogate.risk import guaranteed_threshold, one_per_group

RESPLITS = 200


def realised_risk(
    rows: Sequence[Scored], *, risk: float, delta: float, split_by: str = "task", resplits: int = RESPLITS
) -> dict[str, Any]:
    """Promised and realised risk of skipping kernels that would have beaten their anchor.

    ``split_by`` is "task" or "device": the guarantee is meant to hold for new tasks of a calibrated pool and
    may fail on a new device. One row per task calibrates; all rows of the other tasks, each task counting the
    same, judge. ``violations`` is the share of all resplits that found a threshold and whose realised risk
    was above the promised one: the promise is that it is at most ``delta``. Where few resplits find a
    threshold, those that do are the lucky ones, and ``violations_where_promised`` can be high all the same.
    """
    known = [
        row for row in rows if isinstance(row.answer, Forecast) and row.record.outcome.log2_ratio is not None
    ]
    score = [skip_score(row.answer, 1.0) for row in known if isinstance(row.answer, Forecast)]
    wrong = [(row.record.outcome.log2_ratio or 0.0) > 0 for row in known]
    side = [row.record.task if split_by == "task" else row.record.device for row in known]
    names = sorted(set(side))
    if len(names) < 2:
        return {"promised_risk": risk, "split_by": split_by, "resplits": 0}
    source = random.Random(0)  # noqa: S311 - repeatable resplits
    promised = risks = 0
    realised, shares = [], []
    for _ in range(resplits):
        first = set(source.sample(names, max(1, len(names) // 2)))
        learn = [place for place, name in enumerate(side) if name in first]
        judge = [place for place, name in enumerate(side) if name not in first]
        picked = [
            learn[place] for place in one_per_group([known[item].record.task for item in learn], source)
        ]
        threshold = guaranteed_threshold(
            [score[place] for place in picked], [wrong[place] for place in picked], risk=risk, delta=delta
        )
        if threshold is None or not judge:
            continue
        promised += 1
        skipped = [place for place in judge if score[place] >= threshold.score]
        shares.append(len(skipped) / len(judge))
        by_task: dict[str, list[bool]] = defaultdict(list)
        for place in skipped:
            by_task[known[place].record.task].append(wrong[place])
        if by_task:
            realised.append(float(np.mean([np.mean(items) for items in by_task.values()])))
            risks += realised[-1] > risk
    return {
        "promised_risk": risk,
        "delta": delta,
        "split_by": split_by,
        "resplits": resplits,
        "with_a_threshold": promised,
        "violations": risks / resplits,
        "violations_where_promised": risks / promised if promised else None,
        "mean_realised_risk": float(np.mean(realised)) if realised else None,
        "mean_skipped_share": float(np.mean(shares)) if shares else None,
        "base_risk": float(np.mean(wrong)) if wrong else None,
    }
