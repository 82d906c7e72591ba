"""Submissions, for those who may see them."""

from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import Case, Count, F, FloatField, Q, QuerySet, When
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast

from leaderboard.models import Audit, Submission
from leaderboard.selectors import estimates
from leaderboard.selectors.devices import runners_alive
from leaderboard.selectors.viewers import Viewer, visible_to
from runners.contract.vocabulary import Mode
from runners.models import Evaluation, EvaluationStatus, ProfileTrace
from runners.services.queue import CHECK_QUEUE


@dataclass(frozen=True)
class QueuePlace:
    """Where a queued evaluation stands."""

    position: int  # 1 = next
    wait_seconds: float | None  # expected, from runs like those before it; None while no runner is alive
    audit_seconds: float = 0.0  # of these, for audits that runs before it may bring, and that overtake it
    may_grow: bool = False  # audits before it may be repeated, and then go first again


def get_visible(submission_id: UUID | str, viewer: Viewer) -> Submission:
    """The submission with everything its page shows. One query.

    Raises Submission.DoesNotExist when there is none or the viewer may not see it; the two look the same.
    """
    try:
        return (
            _with_audit(Submission.objects.filter(visible_to(viewer)))
            .select_related("user", "version__task", "device", "kernel", "evaluation", "score")
            .get(pk=submission_id)
        )
    except (ValidationError, ValueError):
        raise Submission.DoesNotExist(f"{submission_id!r} is no submission id") from None


def trace_of(submission: Submission) -> bytes | None:
    """The profiler's raw report of a run, gzip; None where none was kept. One query."""
    kept = ProfileTrace.objects.filter(evaluation=submission.evaluation_id).first()
    return bytes(kept.content) if kept else None


def of_user(user: User, viewer: Viewer) -> QuerySet[Submission]:
    """Submissions of ``user`` that the viewer may see, newest first, without sources and results."""
    return (
        _with_audit(Submission.objects.filter(visible_to(viewer), user=user))
        .select_related("user", "version__task", "device", "kernel", "evaluation", "score")
        .defer(
            "kernel__source",
            "evaluation__result",
            "evaluation__progress",
            "version__statement",
            "version__starters",
        )
        .order_by("-created_at", "-id")
    )


def _with_audit(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    """With ``audited_at`` and ``audit_seconds`` of an audit that bore the entry out, else None."""
    confirmed = Q(audit__outcome=Audit.Outcome.CONFIRMED)
    seconds = KeyTextTransform("seconds", KeyTransform("score", "audit__evaluation__result"))
    measured = Cast(seconds, FloatField())
    return submissions.annotate(
        audited_at=Case(When(confirmed, then=F("audit__evaluation__finished_at"))),
        audit_seconds=Case(When(confirmed, then=measured)),
    )


def queue_place(evaluation: Evaluation) -> QueuePlace | None:
    """None once it left the queue. Four queries at most."""
    if evaluation.status != EvaluationStatus.QUEUED:
        return None
    ahead = (
        Evaluation.objects.filter(queue=evaluation.queue)
        .exclude(pk=evaluation.pk)  # it may have been claimed since it was read
        .filter(
            Q(status=EvaluationStatus.RUNNING)
            | Q(status=EvaluationStatus.QUEUED)
            & (
                Q(lane__lt=evaluation.lane)
                | Q(lane=evaluation.lane, queued_at__lt=evaluation.queued_at)
                | Q(lane=evaluation.lane, queued_at=evaluation.queued_at, pk__lt=evaluation.pk)
            )
        )
        .order_by()
        .values("status", "mode", "lane")
        .annotate(number=Count("pk"))
    )
    usual = estimates.usual_seconds([evaluation.queue])
    position, work, ranked, may_grow = 1, 0.0, 0, False
    for row in ahead:
        seconds = row["number"] * usual[evaluation.queue, row["mode"]]
        if row["status"] == EvaluationStatus.QUEUED:
            position += row["number"]
            work += seconds
        else:
            work += seconds / 2  # on average half of a running one is still to come
        ranked += row["number"] * estimates.brings_audit(row["mode"], row["lane"])
        may_grow |= estimates.may_grow(row["mode"], row["lane"])
    audits = ranked * usual[evaluation.queue, Mode.RANKED]
    if ranked:
        audits *= estimates.audit_rates([evaluation.queue])[evaluation.queue]
    serves = None if evaluation.queue == CHECK_QUEUE else evaluation.device_id  # checks have no device
    servers = runners_alive().get(serves, 0)
    if not servers:
        return QueuePlace(position, None)
    return QueuePlace(position, (work + audits) / servers, audits / servers, may_grow)
