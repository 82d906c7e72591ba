"""Runs, candidates and events, for those who may see them."""

from datetime import timedelta
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KeyTransform

from leaderboard.models import Submission
from leaderboard.search.models import SearchCandidate, SearchEvent, SearchRun
from leaderboard.selectors.viewers import Viewer, is_person

#: Rows of one answer; a page asks again with the number of the last.
LIMIT = 500
#: Candidates that the events of one answer tell of, after which no further event is taken along.
MOST_TOLD = 2000
#: Events read at a time: more would be read for nothing where each tells of thousands of candidates.
_BATCH = 20
#: Of these events the newest tells whether an ended run's best kernel is still to be entered.
ENDINGS = (SearchEvent.Kind.FINISHED, SearchEvent.Kind.ENTERED)

#: After its end a run's best kernel is entered by itself within this, longer than a site is read-only; later
#: its owner has to ask.
DUE_FOR = timedelta(days=30)


def visible_runs(viewer: Viewer) -> QuerySet[SearchRun]:
    """Newest first."""
    runs = SearchRun.objects.select_related("user", "version__task", "device").order_by("-created_at", "-id")
    if viewer is None or not is_person(viewer):
        return runs.filter(is_public=True)
    if viewer.is_staff:
        return runs
    return runs.filter(Q(is_public=True) | Q(user_id=viewer.pk))


def get_any(run_id: UUID | str) -> SearchRun:
    """For commands of the operator, who may see all. Raises SearchRun.DoesNotExist."""
    try:
        return SearchRun.objects.select_related("user", "version__task", "device").get(pk=run_id)
    except (ValidationError, ValueError):
        raise SearchRun.DoesNotExist(f"{run_id!r} is no id of a search") from None


def get_visible(run_id: UUID | str, viewer: Viewer) -> SearchRun:
    """Raises SearchRun.DoesNotExist when there is none or the viewer may not see it; both look the same."""
    try:
        return visible_runs(viewer).get(pk=run_id)
    except (ValidationError, ValueError):
        raise SearchRun.DoesNotExist(f"{run_id!r} is no id of a search") from None


def entered_as(submission: Submission, viewer: Viewer) -> SearchRun | None:
    """The run that ``submission`` came from, if the viewer may see it. No query for what people wrote.

    Also where the run went on and a faster kernel has taken the entry's place.
    """
    if not submission.machine_written:
        return None
    seen = visible_runs(viewer)
    return (
        seen.filter(entered=submission).first()
        or seen.filter(
            user=submission.user_id,
            candidates__kernel=submission.kernel_id,
            events__kind=SearchEvent.Kind.ENTERED,
            events__document__submission=str(submission.pk),
        ).first()
    )


def with_best_score(found: QuerySet[SearchRun]) -> QuerySet[SearchRun]:
    """With ``best_score``, the score of the best kernel with its interval, for a page of runs at most."""
    measured = SearchCandidate.objects.filter(run=OuterRef("pk"), status=SearchCandidate.Status.MEASURED)
    score = measured.order_by("seconds", "number").values(found=KeyTransform("score", "evaluation__result"))
    return found.annotate(best_score=Subquery(score[:1]))


def has_entered(run: SearchRun, best: SearchCandidate) -> bool:
    """Whether the entry is of the kernel ``best``: a run that went on may have found a faster one since."""
    return run.entered is not None and run.entered.kernel_id == best.kernel_id


def last_ending(run: SearchRun) -> SearchEvent | None:
    """How the run last ended, or what came of entering its best kernel after that: the newest such event."""
    return run.events.filter(kind__in=ENDINGS).order_by("-seq").first()


def has_gone_on(run: SearchRun) -> bool:
    """Whether an event came after ``run`` was read: what is read beside it may tell more than it does."""
    return SearchRun.objects.filter(pk=run.pk, seq__gt=run.seq).exists()


def events_since(run: SearchRun, seq: int, limit: int = LIMIT) -> list[SearchEvent]:
    """Events after number ``seq``, oldest first; fewer than ``limit`` where they tell of many candidates.

    None only where there are none: an event is never cut, so that one of a large generation comes alone.
    """
    found: list[SearchEvent] = []
    told = 0
    rows = run.events.order_by("seq")
    while len(found) < limit and told < MOST_TOLD:
        batch = rows.filter(seq__gt=found[-1].seq if found else seq)[: min(_BATCH, limit - len(found))]
        before = len(found)
        for event in batch:
            found.append(event)
            told += sum(len(event.document.get(name, ())) for name in ("new", "changed"))
            if told >= MOST_TOLD:
                break
        if len(found) == before:
            break
    return found


def changed_since(run: SearchRun, seq: int, number: int | None = None) -> QuerySet[SearchCandidate]:
    """Candidates that events after number ``seq`` changed, in the order of events and numbers.

    With ``number`` also the candidates of event ``seq`` after that one: where an answer ended among them.
    """
    rows = run.candidates.order_by("seq", "number")
    if number is None:
        return rows.filter(seq__gt=seq)
    return rows.filter(seq__gte=seq).exclude(seq=seq, number__lte=number)


def candidates_since(
    run: SearchRun, seq: int, number: int | None = None, limit: int = LIMIT
) -> list[SearchCandidate]:
    """At most ``limit`` of ``changed_since``, never with sources. The last one's seq and number lead on."""
    rows = changed_since(run, seq, number).select_related("evaluation")
    return list(rows.defer("evaluation__result", "evaluation__progress")[:limit])
