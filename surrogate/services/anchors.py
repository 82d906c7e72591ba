"""Anchors: measured kernels that forecasts are relative to."""

import math
from collections.abc import Mapping
from typing import Any

from runners.contract.vocabulary import Verdict
from runners.models import Evaluation
from surrogate.models import Anchor

#: Half of a 95 % interval is so many standard deviations.
_HALF_95 = 1.96


def set_anchor(*, evaluation: Evaluation, name: str) -> Anchor | None:
    """Make a passed and timed evaluation the anchor of its task and device; None when it has no times."""
    score = score_of(evaluation)
    if score is None:
        return None
    timings = (evaluation.result or {}).get("benchmarks", [])
    anchor, _ = Anchor.objects.get_or_create(
        evaluation=evaluation,
        defaults={
            "spec_id": evaluation.spec_id,
            "device_id": evaluation.device_id,
            "name": name,
            "seconds": score["seconds"],
            "case_seconds": {item["case"]: item["seconds"] for item in timings if item.get("seconds")},
            "noise": noise_of(score),
        },
    )
    return anchor


def current_anchor(*, spec_id: str, device_id: int) -> Anchor | None:
    """With its kernel. One query."""
    return (
        Anchor.objects.filter(spec_id=spec_id, device_id=device_id)
        .select_related("evaluation__kernel")
        .defer("evaluation__result", "evaluation__progress")
        .order_by("-created_at", "-pk")
        .first()
    )


def score_of(evaluation: Evaluation) -> Mapping[str, Any] | None:
    """The score of a passed, timed evaluation whose numbers are usable."""
    score: Mapping[str, Any] | None = (evaluation.result or {}).get("score")
    if evaluation.verdict != Verdict.PASSED or not score:
        return None
    seconds = score.get("seconds")
    if not isinstance(seconds, int | float) or not (math.isfinite(seconds) and seconds > 0):
        return None
    return score


def noise_of(score: Mapping[str, Any]) -> float:
    """Standard deviation of log2(seconds) that the 95 % interval tells of, octaves; 0 where it tells none."""
    low, high = score.get("ci_low"), score.get("ci_high")
    if not (isinstance(low, int | float) and isinstance(high, int | float) and 0 < low <= high):
        return 0.0
    octaves = math.log2(high / low) / (2 * _HALF_95)
    return octaves if math.isfinite(octaves) else 0.0
