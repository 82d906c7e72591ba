"""Entering a run's best kernel on the board in its owner's name, marked as machine-written by the run."""

from django.db import transaction

from leaderboard.models import Submission
from leaderboard.search.generators.base import Operator
from leaderboard.search.models import RunStatus, SearchCandidate, SearchEvent, SearchRun, StopReason
from leaderboard.search.services.log import add_event, lock
from leaderboard.services import site_mode, submissions
from leaderboard.services.errors import Refusal
from runners.contract.vocabulary import Mode


def due() -> list[SearchRun]:
    """Ended runs whose best kernel is still to be entered."""
    runs = SearchRun.objects.filter(status=RunStatus.FINISHED, enters_best=True, entered=None)
    runs = runs.exclude(stop_reason__in=(StopReason.CANCELLED, StopReason.CHANGED))
    return list(runs.exclude(events__kind=SearchEvent.Kind.ENTERED).filter(best_seconds__isnull=False))


def enter_best(*, run: SearchRun) -> Submission | None:
    """Submit the best kernel as a ranked run; None when it is refused, or no better than the starter.

    The event is written in the transaction of the submission, so that a kernel is entered once. The race
    that remains: two processes may both submit, and the second one's transaction fails on the run's row.
    """
    best = (
        run.candidates.filter(status=SearchCandidate.Status.MEASURED)
        .select_related("kernel")
        .order_by("seconds", "number")
        .first()
    )
    if not site_mode.is_open():
        return None  # it stays due: a refusal now would be for good
    if best is None or run.candidates.filter(status=SearchCandidate.Status.MEASURING).exists():
        return None
    if best.operator == Operator.START and not best.parameters:
        _note(run, None, "Nothing faster than the starter was found.")
        return None
    try:
        with transaction.atomic():
            submission = submissions.submit(
                user=run.user,
                task_slug=run.version.task.slug,
                device_slug=run.device.slug,
                language=best.kernel.language,
                mode=Mode.RANKED,
                source=best.kernel.source,
                is_public=run.is_public,
            )
            _note(run, submission, f"Candidate {best.number} was entered.")
    except Refusal as refusal:
        _note(run, None, f"Candidate {best.number} was not entered: {refusal.message}")
        return None
    return submission


@transaction.atomic
def _note(run: SearchRun, submission: Submission | None, message: str) -> None:
    locked = lock(run.pk)
    if locked.events.filter(kind=SearchEvent.Kind.ENTERED).exists():
        raise Refusal("entered_before", "The best kernel was entered by another process.")
    if submission is not None:
        SearchRun.objects.filter(pk=run.pk).update(entered=submission)
    document = {"message": message, "submission": str(submission.pk) if submission else None}
    add_event(run=locked, kind=SearchEvent.Kind.ENTERED, document=document)
