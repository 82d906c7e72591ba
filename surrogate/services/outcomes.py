"""Outcomes: what measuring said of kernels. Recording one again changes nothing."""

import math

from django.db.models import Exists, OuterRef

from runners.contract.vocabulary import Mode, Verdict
from runners.models import Evaluation, EvaluationStatus, Lane
from surrogate.models import Anchor, Outcome
from surrogate.services.anchors import current_anchor, noise_of, score_of

#: Verdicts that say that the kernel does not work. The others say nothing about it.
_FAILED = (
    Verdict.WRONG,
    Verdict.COMPILE_ERROR,
    Verdict.RUNTIME_ERROR,
    Verdict.TIMEOUT,
    Verdict.RESOURCE_LIMIT,
)
_MODES = (Mode.TEST, Mode.BENCHMARK, Mode.RANKED)
_BATCH = 200


def record(*, evaluation: Evaluation) -> Outcome | None:
    """The outcome of a finished evaluation; None while its task and device have no anchor, and for runs that
    say nothing of their kernel or say it twice, as audits do."""
    if evaluation.mode not in _MODES or evaluation.lane == Lane.AUDIT:
        return None
    score = score_of(evaluation)
    if score is None and evaluation.verdict not in (*_FAILED, Verdict.PASSED):
        return None
    anchor = current_anchor(spec_id=evaluation.spec_id, device_id=evaluation.device_id)
    if anchor is None or anchor.evaluation_id == evaluation.pk:
        return None
    outcome, _ = Outcome.objects.get_or_create(
        evaluation=evaluation,
        defaults={
            "anchor": anchor,
            "is_correct": evaluation.verdict == Verdict.PASSED,
            "seconds": score["seconds"] if score else None,
            "log2_ratio": math.log2(anchor.seconds / score["seconds"]) if score else None,
            "noise": math.hypot(anchor.noise, noise_of(score)) if score else 0.0,
        },
    )
    return outcome


def record_missing() -> int:
    """Outcomes of runs that ended while nobody recorded them, or before their anchor was measured."""
    anchors = Anchor.objects.filter(spec=OuterRef("spec"), device=OuterRef("device"))
    missing = (
        Evaluation.objects.filter(
            Exists(anchors),
            status=EvaluationStatus.FINISHED,
            verdict__in=(*_FAILED, Verdict.PASSED),
            mode__in=_MODES,
            outcome=None,
            anchor=None,
        )
        .exclude(lane=Lane.AUDIT)
        .defer("progress")
        .order_by("finished_at")
    )
    return sum(record(evaluation=evaluation) is not None for evaluation in missing[:_BATCH])
