"""Scores: the ranked outcome of a submission."""

import logging
import math
from collections.abc import Mapping
from typing import Any

from leaderboard.models import Score, Submission
from runners.contract.vocabulary import Mode, Verdict
from runners.models import Evaluation

logger = logging.getLogger(__name__)


def record(*, evaluation: Evaluation) -> Score | None:
    """Write the score of a ranked evaluation that passed; None for every other.

    Runs in the transaction that stores the result. Safe to call twice: a submission has at most one score.
    """
    if evaluation.mode != Mode.RANKED or evaluation.verdict != Verdict.PASSED:
        return None
    document: Mapping[str, Any] = evaluation.result or {}
    measured = document.get("score")
    submission = Submission.objects.filter(evaluation=evaluation).first()
    if submission is None or not measured:
        return None
    seconds, ci_low, ci_high = (float(measured[key]) for key in ("seconds", "ci_low", "ci_high"))
    if not (math.isfinite(seconds) and math.isfinite(ci_high) and seconds > 0 and ci_low > 0):
        # A raised error would undo the verdict and have the run repeated; a time of zero must not be ranked.
        logger.error("evaluation %s passed with the impossible time %r s", evaluation.pk, seconds)
        return None
    score, _ = Score.objects.get_or_create(
        submission=submission,
        defaults={
            "version_id": submission.version_id,
            "device_id": submission.device_id,
            "user_id": submission.user_id,
            "baseline": submission.baseline,
            "seconds": seconds,
            # Rounding may put the mean a hair outside its interval, which the table refuses.
            "ci_low": min(ci_low, seconds),
            "ci_high": max(ci_high, seconds),
            "roofline": measured.get("roofline"),
            "cases": [
                {key: timing.get(key) for key in ("case", "seconds", "ci_low", "ci_high", "floor_seconds")}
                for timing in document.get("benchmarks", [])
                if timing.get("seconds") is not None
            ],
        },
    )
    return score
