"""Taking in what an evaluation of a candidate came to, in the transaction that stores its result."""

import math
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest

from leaderboard.search.llm.records import note_outcome
from leaderboard.search.models import RunStatus, SearchCandidate, SearchEvent, SearchRun
from leaderboard.search.services import ending, runs
from leaderboard.search.services.log import add_event, lock
from runners.contract.vocabulary import Verdict
from runners.models import Evaluation

#: Failures of ours, one after the other, after which a run is paused instead of burning its budget.
MOST_FAULTS = 3

Status = SearchCandidate.Status


@transaction.atomic
def record(*, evaluation: Evaluation) -> None:
    """Settle the budgets and log the outcome. Does nothing for evaluations of no search, or a second time."""
    run_id = (
        SearchCandidate.objects.filter(evaluation_id=evaluation.pk).values_list("run_id", flat=True).first()
    )
    if run_id is None:
        return
    run = lock(run_id)
    candidate = SearchCandidate.objects.get(evaluation_id=evaluation.pk)
    if candidate.status != Status.MEASURING:
        return
    seconds = _seconds(evaluation)
    log2_seconds = None if seconds is None else math.log2(seconds)
    ours = evaluation.verdict in (Verdict.INTERNAL_ERROR, Verdict.CANCELLED)
    if ours:
        kind = SearchEvent.Kind.DROPPED
        document: dict[str, Any] = {
            "digest": candidate.digest,
            "reason": evaluation.reason or str(evaluation.verdict),
            "lost": evaluation.verdict == Verdict.INTERNAL_ERROR,
        }
    else:
        kind = SearchEvent.Kind.MEASURED
        document = {
            "digest": candidate.digest,
            "number": candidate.number,
            "log2_seconds": log2_seconds,
            "verdict": evaluation.verdict,
            "device_seconds": evaluation.device_seconds,
        }
    event = add_event(run=run, kind=kind, document=document)
    candidate.status = Status.DROPPED if ours else Status.FAILED if seconds is None else Status.MEASURED
    candidate.seconds, candidate.seq = seconds, event.seq
    candidate.save(update_fields=["status", "seconds", "seq"])
    _settle(run, candidate, evaluation, seconds, ours)
    transaction.on_commit(partial(ending.stop_if_overspent, run_id=run.pk), robust=True)
    if not ours:
        note_outcome(run=run, digest=candidate.digest, verdict=evaluation.verdict, log2_seconds=log2_seconds)
    if evaluation.verdict == Verdict.INTERNAL_ERROR:
        _trip(run, evaluation.reason)


def _settle(
    run: SearchRun, candidate: SearchCandidate, evaluation: Evaluation, seconds: float | None, ours: bool
) -> None:
    """Reserved becomes spent. A run that failed by our fault costs no measurement, but its time was used."""
    best = run.best_seconds
    if seconds is not None:
        best = seconds if best is None else min(best, seconds)
    starter = seconds if candidate.is_starter and run.starter_seconds is None else run.starter_seconds
    SearchRun.objects.filter(pk=run.pk).update(
        measurements_reserved=F("measurements_reserved") - 1,
        measurements_spent=F("measurements_spent") + (0 if ours else 1),
        # Floating sums drift by rounding: never below nothing.
        device_seconds_reserved=Greatest(F("device_seconds_reserved") - candidate.reserved_seconds, 0.0),
        device_seconds_spent=F("device_seconds_spent") + max(0.0, evaluation.device_seconds),
        faults=F("faults") + 1 if evaluation.verdict == Verdict.INTERNAL_ERROR else 0,
        best_seconds=best,
        starter_seconds=starter,
    )


def _trip(run: SearchRun, reason: str) -> None:
    run.refresh_from_db(fields=["faults", "status"])
    if run.faults >= MOST_FAULTS and run.status == RunStatus.RUNNING:
        message = f"Paused: {run.faults} runs failed through the site's own fault, the last one: {reason}"
        runs.pause(run=run, user=None, message=message)


def _seconds(evaluation: Evaluation) -> float | None:
    if evaluation.verdict != Verdict.PASSED:
        return None
    score = (evaluation.result or {}).get("score")
    return float(score["seconds"]) if score else None
