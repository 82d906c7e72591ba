"""Taking up what dead runners left, and ringing for work whose doorbell was lost."""

import logging
from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from runners.contract.limits import MAX_ATTEMPTS
from runners.models import Evaluation, EvaluationStatus, Runner
from runners.services.evaluations import take_up_abandoned
from runners.services.queue import ring

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
    """Ring each queue that has waiting rows but nothing running; a needless ring finds nothing and ends."""
    old = timezone.now() - timedelta(seconds=settings.SWEEP_SECONDS)
    waiting = Evaluation.objects.filter(status=EvaluationStatus.QUEUED, queued_at__lt=old)
    running = Evaluation.objects.filter(status=EvaluationStatus.RUNNING).values("queue")
    for queue in (
        waiting.exclude(queue__in=running).values_list("queue", flat=True).order_by().distinct()[:_BATCH]
    ):
        ring(queue)


def release_runner(*, runner: Runner) -> None:
    """End a runner's registration and take up its work at once, without waiting for the lease."""
    Runner.objects.filter(pk=runner.pk, stopped_at=None).update(stopped_at=timezone.now())
    for evaluation in Evaluation.objects.filter(Q(runner=runner), status=EvaluationStatus.RUNNING):
        take_up_abandoned(evaluation=evaluation, max_attempts=MAX_ATTEMPTS)
