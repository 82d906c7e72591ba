"""Entering a run's best kernel on the board in its owner's name, marked as machine-written."""

from contextlib import suppress

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from leaderboard.models import Submission, TaskVersion
from leaderboard.search.models import RunStatus, SearchCandidate, SearchEvent, SearchRun, StopReason
from leaderboard.search.selectors.runs import DUE_FOR, ENDINGS, has_entered, last_ending
from leaderboard.search.services.log import add_event, lock
from leaderboard.search.services.owners import require_owner
from leaderboard.services import site_mode, submissions
from leaderboard.services.errors import Refusal
from runners.contract.vocabulary import Mode

Status = SearchCandidate.Status


def due() -> list[SearchRun]:
    """Ended runs whose best kernel is to be entered without anybody's asking: once after each ending.

    Not those that ended long ago: workers look twice a second, and all there ever were would be too many.
    """
    runs = SearchRun.objects.filter(status=RunStatus.FINISHED, enters_best=True, best_seconds__isnull=False)
    runs = runs.filter(finished_at__gt=timezone.now() - DUE_FOR, user__is_active=True)
    runs = runs.exclude(stop_reason__in=(StopReason.CANCELLED, StopReason.CHANGED))
    endings = SearchEvent.objects.filter(run=OuterRef("pk"), kind__in=ENDINGS).order_by("-seq")
    return list(
        runs.annotate(last=Subquery(endings.values("kind")[:1])).filter(last=SearchEvent.Kind.FINISHED)
    )


def enter_best(*, run: SearchRun) -> Submission | None:
    """Submit the best kernel of a run that is due; None when it is refused, or no better than the starter or
    what the run has entered.

    A refusal is noted and not tried again: the owner may, by ``enter``.
    """
    if not site_mode.is_open():
        return None  # it stays due: a refusal now would be noted for good
    if run.candidates.filter(status=Status.MEASURING).exists():
        return None
    best = best_of(run)
    if best is None:
        return None
    if best.is_starter:
        why = "Nothing faster than the starter was found."
    elif has_entered(run, best):
        why = "Nothing faster than the entered kernel was found."
    else:
        try:
            return _submit(run, best, once=True)
        except Refusal as refusal:
            why = f"Candidate {best.number} was not entered: {refusal.message}"
    with suppress(Refusal):  # another process was first, or the owner lets the run go on
        _note(run, None, why, once=True)
    return None


def enter(*, run: SearchRun, user: User) -> Submission:
    """Submit the best kernel of an ended run because its owner asks. Raises Refusal and PermissionDenied.

    Refused while the run goes on, when this kernel is its entry already, when nothing beat the starter, and
    when the task is not what it was, beside everything that a submission is refused for.
    """
    require_owner(run, user)
    if run.status != RunStatus.FINISHED:
        raise Refusal("run_going", "The search has not ended; its best kernel is entered when it has.")
    if run.candidates.filter(status=Status.MEASURING).exists():
        raise Refusal("run_going", "A kernel of the search is still being measured.")
    best = best_of(run)
    if best is not None and has_entered(run, best):
        raise Refusal("entered_before", "The search's best kernel was entered before.")
    _require_as_measured(run, run.version)
    if best is None or best.is_starter:
        raise Refusal("nothing_found", "The search found nothing faster than the starter.")
    return _submit(run, best, once=False)


def best_of(run: SearchRun) -> SearchCandidate | None:
    """The fastest measured candidate with its kernel; of equal times the one that came first."""
    measured = run.candidates.filter(status=Status.MEASURED).select_related("kernel")
    return measured.order_by("seconds", "number").first()


def _submit(run: SearchRun, best: SearchCandidate, *, once: bool) -> Submission:
    """The event is written in the transaction of the submission, so that a kernel is entered once.

    The race that remains: two processes may both submit, and the second one's transaction fails on the
    run's row.
    """
    with transaction.atomic():
        submission = submissions.submit(
            user=run.user,
            task_slug=run.version.task.slug,
            device_slug=run.device.slug,
            language=best.kernel.language,
            mode=Mode.RANKED,
            source=best.kernel.source,
            is_public=run.is_public,
            machine_written=True,
        )
        _require_as_measured(run, submission.version)
        _note(run, submission, f"Candidate {best.number} was entered.", once=once)
    return submission


def _require_as_measured(run: SearchRun, version: TaskVersion) -> None:
    """Raises Refusal where ``version`` is not what the run's kernels were measured on."""
    if version.pk != run.version_id or version.spec_id != run.spec_digest or not version.is_current:
        raise Refusal("run_changed", "The task has a new version, on which the kernel was not measured.")


@transaction.atomic
def _note(run: SearchRun, submission: Submission | None, message: str, *, once: bool) -> None:
    """``once``: also an entry that was refused since the run ended counts, as nobody has asked again."""
    locked = lock(run.pk)
    ending = last_ending(locked) if once else None
    tried = ending is not None and ending.kind == SearchEvent.Kind.ENTERED
    if tried or locked.status != RunStatus.FINISHED or locked.entered_id != run.entered_id:
        raise Refusal("entered_before", "Another process entered the best kernel, or the search goes on.")
    if submission is not None:
        SearchRun.objects.filter(pk=run.pk).update(entered=submission)
    document = {"message": message, "submission": str(submission.pk) if submission else None}
    add_event(run=locked, kind=SearchEvent.Kind.ENTERED, document=document)
