"""Ending a run, and stopping what it has under way."""

from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from leaderboard.models import Reservation, Spend
from leaderboard.search.models import RunStatus, SearchCandidate, SearchEvent, SearchRun, StopReason
from leaderboard.search.services.clock import wall_seconds
from leaderboard.search.services.log import add_event, lock
from runners.models import Evaluation
from runners.services import evaluations

_GOING = (RunStatus.RUNNING, RunStatus.PAUSED)


class _Outrun(Exception):
    """A step was stored, or the run ended, since the run was looked at: nothing of this may be stored."""


@transaction.atomic
def finish(*, run: SearchRun, reason: StopReason, message: str = "") -> bool:
    """End a run with a reason; what is still being measured keeps its outcome. False when it had ended."""
    locked = lock(run.pk)
    if locked.status not in _GOING:
        return False
    message = message or f"Ended because {reason.label}."
    SearchRun.objects.filter(pk=run.pk, status__in=_GOING).update(
        status=RunStatus.FINISHED,
        stop_reason=reason,
        stop_message=message[:300],
        finished_at=timezone.now(),
        resumes_at=None,
        going_since=None,
        wall_seconds_spent=wall_seconds(locked),
    )
    locked.status = RunStatus.FINISHED
    add_event(run=locked, kind=SearchEvent.Kind.FINISHED, document={"reason": reason, "message": message})
    return True


def stop(*, run: SearchRun, reason: StopReason, message: str = "") -> bool:
    """End a run and stop what it has under way. False when it had ended before.

    Both or neither: no one takes a step of an ended run, so that what a killed process had left queued would
    be measured for nothing.
    """
    while True:  # again only after a step that came between, and the next one waits for what that queued
        try:
            with transaction.atomic():
                return _stop(run, reason, message)
        except _Outrun:
            continue


def _stop(run: SearchRun, reason: StopReason, message: str) -> bool:
    """Evaluations are locked before the run, all of them, and only then is it certain which those are."""
    if not SearchRun.objects.filter(pk=run.pk, status__in=_GOING).exists():
        return False
    known = _under_way(run)
    held = list(Evaluation.objects.select_for_update(no_key=True).filter(pk__in=known).order_by("pk"))
    # A run that goes on over midnight has reserved on two days, and the second must not come after the run.
    days = Reservation.objects.filter(evaluation__in=held).values("spend")
    list(Spend.objects.select_for_update().filter(pk__in=days).order_by("pk"))
    for evaluation in held:
        evaluations.request_cancel(evaluation=evaluation)
    if not finish(run=run, reason=reason, message=message) or _under_way(run) - known:
        raise _Outrun
    return True


def stop_if_overspent(*, run_id: Any) -> None:
    """Stop what is under way in a run whose device seconds are gone, as when kernels hang: those still queued
    would each add to that, and a budget is passed by one evaluation at most. Also in a run that is paused,
    waits or has no worker. Outside any lock of the run: evaluations are locked before it.
    """
    run = SearchRun.objects.filter(pk=run_id, device_seconds_spent__gte=F("device_seconds_limit")).first()
    if run is None:
        return
    for evaluation in Evaluation.objects.filter(pk__in=_under_way(run)):
        evaluations.request_cancel(evaluation=evaluation)


def _under_way(run: SearchRun) -> set[UUID]:
    """Evaluations that measure its candidates or profile one."""
    measuring = run.candidates.filter(
        status=SearchCandidate.Status.MEASURING, evaluation__isnull=False
    ).values_list("evaluation_id", flat=True)
    profiling = run.profiles.filter(is_settled=False).values_list("evaluation_id", flat=True)
    return {*measuring, *profiling}
