"""The life of an evaluation row: queued → running → finished.

A running row is fenced by (runner, attempts): a runner that lost its lease can no longer write to it, so that
every evaluation gets exactly one verdict, whoever dies when.
"""

import base64
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from runners.contract import progress
from runners.contract.vocabulary import Mode, Verdict
from runners.models import (
    Device,
    Evaluation,
    EvaluationStatus,
    Kernel,
    Lane,
    ProfileTrace,
    Runner,
    SpecDocument,
)
from runners.services.queue import CHECK_QUEUE, ring
from runners.signals import evaluation_finished, evaluation_progressed

QUEUED, RUNNING, FINISHED = EvaluationStatus.QUEUED, EvaluationStatus.RUNNING, EvaluationStatus.FINISHED


def enqueue(*, kernel: Kernel, spec: SpecDocument, device: Device, mode: Mode, lane: Lane) -> Evaluation:
    """A queued evaluation. Its queue is rung when the surrounding transaction commits."""
    is_check = mode == Mode.CHECK
    evaluation = Evaluation.objects.create(
        kernel=kernel,
        spec=spec,
        device=device,
        mode=mode,
        queue=CHECK_QUEUE if is_check else device.slug,
        lane=Lane.CHECK if is_check else lane,
        progress=progress.empty(),
    )
    # robust: a bell that does not ring must not turn a stored submission into an error page.
    transaction.on_commit(lambda: ring(evaluation.queue), robust=True)
    return evaluation


def claim_next(*, queue: str, runner: Runner) -> Evaluation | None:
    """The next waiting evaluation of ``queue``, now leased to ``runner``; None when nothing waits.

    Nothing is taken for a quarantined device, save compile-only work, which does not touch it.
    """
    with transaction.atomic():
        waiting = (
            Evaluation.objects.select_for_update(skip_locked=True, of=("self",))
            .filter(queue=queue, status=QUEUED)
            .filter(Q(queue=CHECK_QUEUE) | Q(device__quarantine_reason=""))
            .order_by("lane", "queued_at")
            .values_list("pk", flat=True)
            .first()
        )
        if waiting is None:
            return None
        now = timezone.now()
        Evaluation.objects.filter(pk=waiting, status=QUEUED).update(
            status=RUNNING,
            runner=runner,
            tier=runner.tier,
            attempts=F("attempts") + 1,
            lease_expires_at=now + timedelta(seconds=settings.LEASE_SECONDS),
            started_at=now,
            seq=F("seq") + 1,
            progress=progress.empty(),
        )
    evaluation = Evaluation.objects.select_related("kernel", "spec", "device", "runner").get(pk=waiting)
    evaluation_progressed.send(sender=Evaluation, evaluation=evaluation)
    return evaluation


def advance(*, waiting: QuerySet[Evaluation], lane: Lane) -> int:
    """Move evaluations that still wait to a lane that goes sooner; how many were moved."""
    return waiting.filter(status=QUEUED, lane__gt=lane).update(lane=lane)


def extend_lease(*, evaluation: Evaluation) -> bool:
    """Keep the lease. False when it was lost or a cancel was asked for: the run must stop."""
    held = _held(evaluation).filter(cancel_requested_at=None)
    until = timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
    return bool(held.update(lease_expires_at=until))


def record_event(*, evaluation: Evaluation, event: Mapping[str, Any]) -> None:
    """Fold one event of the supervisor into the stored progress. Ignored once the lease is lost."""
    evaluation.progress = progress.apply(evaluation.progress, event)
    if event["type"] == "stage":
        evaluation.stage = event["stage"]
    written = _held(evaluation).update(progress=evaluation.progress, stage=evaluation.stage, seq=F("seq") + 1)
    if written:
        # Read back rather than counted here: a request to cancel raises the number too.
        evaluation.refresh_from_db(fields=["seq"])
        evaluation_progressed.send(sender=Evaluation, evaluation=evaluation)


def finish(*, evaluation: Evaluation, result: Mapping[str, Any]) -> bool:
    """Store the verdict of a running evaluation. False when another runner holds it by now."""
    document = dict(result)
    trace = document.pop("trace", None)
    with transaction.atomic():
        finished = _finish(
            _held(evaluation),
            verdict=Verdict(result["verdict"]),
            reason=result["reason"],
            result=document,
            device_seconds=F("device_seconds") + float(result["device_seconds"]),
        )
        if finished and trace:
            ProfileTrace.objects.create(evaluation=evaluation, content=base64.b64decode(trace))
        return finished


def give_back(*, evaluation: Evaluation) -> bool:
    """Queue a running evaluation again, as if it had not been started: its runner is shutting down."""
    with transaction.atomic():
        given = _held(evaluation).update(attempts=F("attempts") - 1, **_waiting())
        transaction.on_commit(lambda: ring(evaluation.queue))
    return bool(given)


def request_cancel(*, evaluation: Evaluation) -> bool:
    """Cancel a queued evaluation at once, ask a running one to stop. False when it had finished before."""
    with transaction.atomic():
        queued = Evaluation.objects.filter(pk=evaluation.pk, status=QUEUED)
        if _finish(queued, verdict=Verdict.CANCELLED, reason="Cancelled before it started."):
            return True
        # The races that remain: a run that finishes right now keeps its verdict, and one that is given back
        # between these two statements is queued, so the second look below catches it.
        running = Evaluation.objects.filter(pk=evaluation.pk, status=RUNNING)
        if running.update(cancel_requested_at=timezone.now(), seq=F("seq") + 1):
            evaluation.refresh_from_db()
            evaluation_progressed.send(sender=Evaluation, evaluation=evaluation)
            return True
        return _finish(queued, verdict=Verdict.CANCELLED, reason="Cancelled before it started.")


def note_change(*, evaluation: Evaluation) -> None:
    """What is told of a finished evaluation has changed elsewhere: pages that show it read it again."""
    Evaluation.objects.filter(pk=evaluation.pk).update(seq=F("seq") + 1)
    evaluation.refresh_from_db(fields=["seq"])
    evaluation_progressed.send(sender=Evaluation, evaluation=evaluation)


def take_up_abandoned(*, evaluation: Evaluation, max_attempts: int) -> None:
    """Queue a running evaluation whose runner or supervisor is gone again, or end it after its last attempt.

    The attempt counts as device time, or whoever brings a runner down would measure for nothing.
    """
    used = F("device_seconds") + held_seconds(evaluation)
    with transaction.atomic():
        held = _held(evaluation)
        if evaluation.cancel_requested_at is not None:
            _finish(held, verdict=Verdict.CANCELLED, reason="Cancelled.", device_seconds=used)
        elif evaluation.attempts >= max_attempts:
            reason = (
                f"Gave up after {evaluation.attempts} attempts: each time the runner went silent "
                "or its supervisor was killed while this kernel was running."
            )
            _finish(held, verdict=Verdict.INTERNAL_ERROR, reason=reason, device_seconds=used)
        elif held.update(device_seconds=used, **_waiting()):
            transaction.on_commit(lambda: ring(evaluation.queue))
            evaluation.refresh_from_db()
            transaction.on_commit(
                lambda: evaluation_progressed.send(sender=Evaluation, evaluation=evaluation)
            )


def held_seconds(evaluation: Evaluation) -> float:
    """Seconds that the running attempt has held its device so far, or did until its lease ended.

    Compile-only work holds none.
    """
    if evaluation.queue == CHECK_QUEUE or evaluation.started_at is None:
        return 0.0
    now = timezone.now()
    end = min(now, evaluation.lease_expires_at or now)
    return max(0.0, (end - evaluation.started_at).total_seconds())


def _held(evaluation: Evaluation) -> QuerySet[Evaluation]:
    """The row, as long as the same attempt of the same runner holds it."""
    return Evaluation.objects.filter(
        pk=evaluation.pk, status=RUNNING, runner=evaluation.runner, attempts=evaluation.attempts
    )


def _waiting() -> dict[str, Any]:
    return {
        "status": QUEUED,
        "runner": None,
        "lease_expires_at": None,
        "started_at": None,
        "stage": "",
        "progress": progress.empty(),
        "seq": F("seq") + 1,
    }


def _finish(rows: QuerySet[Evaluation], *, verdict: Verdict, reason: str, **fields: Any) -> bool:
    """Conditional end of the one row in ``rows``, with the signal inside the caller's transaction."""
    pk = rows.values_list("pk", flat=True).first()
    if pk is None:
        return False
    now = timezone.now()
    ended = rows.update(
        status=FINISHED,
        verdict=verdict,
        reason=reason,
        finished_at=now,
        lease_expires_at=None,
        seq=F("seq") + 1,
        **fields,
    )
    if not ended:
        return False
    evaluation = Evaluation.objects.select_related("device", "spec", "kernel").get(pk=pk)
    evaluation_finished.send(sender=Evaluation, evaluation=evaluation)
    return True
