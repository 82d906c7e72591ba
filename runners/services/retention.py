"""How long raw data of evaluations are kept: single times, compilers' listings, profilers' traces.

Verdicts, scores, intervals and everything else that pages and boards show stay for ever.
"""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from runners.models import Evaluation, EvaluationStatus, ProfileTrace

_BATCH = 200  # evaluations a round; the next one takes the rest


def prune() -> int:
    """One round, safe to run in several processes at once; returns how many lost their raw data."""
    if not settings.RAW_DAYS:
        return 0
    limit = timezone.now() - timedelta(days=settings.RAW_DAYS)
    old = Evaluation.objects.filter(
        status=EvaluationStatus.FINISHED, raw_kept=True, finished_at__lt=limit
    ).order_by("finished_at")
    # One at a time: a result may have megabytes.
    return sum(_prune(pk) for pk in list(old.values_list("pk", flat=True)[:_BATCH]))


def without_raw(result: dict[str, Any], days: int) -> dict[str, Any]:
    """The result document as it is kept for good; it says what is gone. Pure."""
    gone: list[str] = []
    benchmarks = []
    for timing in result.get("benchmarks", []):
        benchmarks.append({key: value for key, value in timing.items() if key != "samples"})
        if "samples" in timing and not gone:
            gone.append("single times")
    kept = {**result, "benchmarks": benchmarks}
    for section, keys, name in (
        ("compile", ("listing",), "the compiler's listings"),
        ("profile", ("raw", "raw_bytes"), "the profiler's raw report"),
    ):
        if any(key in (result.get(section) or {}) for key in keys):
            kept[section] = {key: value for key, value in result[section].items() if key not in keys}
            gone.append(name)
    if gone:
        told = f"{', '.join(gone)}: for {days} days only"
        kept["left_out"] = [*(result.get("left_out") or []), told]
    return kept


@transaction.atomic
def _prune(pk: Any) -> int:
    held = Evaluation.objects.select_for_update(skip_locked=True).filter(pk=pk, raw_kept=True).first()
    if held is None:
        return 0  # somebody else does it
    result = without_raw(held.result, settings.RAW_DAYS) if held.result else held.result
    ProfileTrace.objects.filter(evaluation_id=pk).delete()
    return Evaluation.objects.filter(pk=pk, raw_kept=True).update(result=result, raw_kept=False)
