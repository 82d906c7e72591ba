"""Taking up what dead runners left, and ringing for work whose doorbell was lost."""

import logging
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from runners.contract.limits import MAX_ATTEMPTS
from runners.models import Evaluation, EvaluationStatus, Runner
from runners.selectors import alive_runners
from runners.services.evaluations import take_up_abandoned
from runners.services.queue import CHECK_QUEUE, ring

logger = logging.getLogger(__name__)

_BATCH = 200  # rows a sweep; the next one takes the rest


def sweep() -> int:
    """One round. Safe to run in several processes at once; returns how many rows were taken up."""
    now = timezone.now()
    expired = Evaluation.objects.filter(status=EvaluationStatus.RUNNING, lease_expires_at__lt=now)
    taken = 0
    for evaluation in expired.order_by("lease_expires_at")[:_BATCH]:
        logger.warning("lease of evaluation %s ran out, attempt %d", evaluation.pk, evaluation.attempts)
        take_up_abandoned(evaluation=evaluation, max_attempts=MAX_ATTEMPTS)
        taken += 1
    _ring_forgotten()
    return taken


def _ring_forgotten() -> None:
    """Ring for rows that wait although a runner is idle: once per idle runner, never for absent ones.

    A needless ring finds nothing and ends; the queue of a device that is offline or quarantined is not rung
    at all, so that its messages do not pile up.
    """
    old = timezone.now() - timedelta(seconds=settings.SWEEP_SECONDS)
    waiting = _count(Evaluation.objects.filter(status=EvaluationStatus.QUEUED, queued_at__lt=old), "queue")
    if not waiting:
        return
    busy = _count(Evaluation.objects.filter(status=EvaluationStatus.RUNNING), "queue")
    serving = alive_runners().filter(Q(device=None) | Q(device__quarantine_reason=""))
    for slug, alive in _count(serving, "device__slug").items():
        queue = slug or CHECK_QUEUE
        idle = alive - busy.get(queue, 0)
        for _ in range(min(idle, waiting.get(queue, 0))):
            ring(queue)


def _count(rows: QuerySet[Any], field: str) -> dict[str | None, int]:
    return {row[field]: row["number"] for row in rows.order_by().values(field).annotate(number=Count("pk"))}


def release_runner(*, runner: Runner) -> None:
    """End a runner's registration and take up its work at once, without waiting for the lease."""
    Runner.objects.filter(pk=runner.pk, stopped_at=None).update(stopped_at=timezone.now())
    for evaluation in Evaluation.objects.filter(runner=runner, status=EvaluationStatus.RUNNING):
        take_up_abandoned(evaluation=evaluation, max_attempts=MAX_ATTEMPTS)
