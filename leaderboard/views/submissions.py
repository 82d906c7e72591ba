"""One submission: its run, live, and its source."""

from typing import Any, cast
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from leaderboard.downloads import download, trace_response
from leaderboard.models import Submission
from leaderboard.search.selectors import runs as search_runs
from leaderboard.selectors import forecasts as forecast_selectors
from leaderboard.selectors import submissions as submission_selectors
from leaderboard.selectors.viewers import may_manage
from leaderboard.services import submissions as submission_services
from leaderboard.views.parts import opened_by_a_person
from leaderboard.views.run import RunView, run_of
from runners.contract.vocabulary import SUFFIXES, Language


@require_safe
def submission(request: HttpRequest, submission_id: UUID) -> HttpResponse:
    return render(request, "leaderboard/submission.html", _context(request, submission_id))


@require_safe
@vary_on_headers("Accept", "HX-Request")
def live(request: HttpRequest, submission_id: UUID) -> HttpResponse:
    """The run alone, for the page that shows it to fetch anew; who opens its address gets that page."""
    if opened_by_a_person(request):
        return redirect("submission", submission_id)
    response = render(request, "leaderboard/_submission_live.html", _context(request, submission_id))
    response["Cache-Control"] = "no-store"
    return response


@require_safe
def source(request: HttpRequest, submission_id: UUID) -> HttpResponse:
    """The source as a plain text file. Never as anything that a browser would run."""
    found = _visible(request, submission_id)
    suffix = SUFFIXES[Language(found.kernel.language)][0]
    return HttpResponse(
        found.kernel.source.encode(),
        content_type="text/plain; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="{found.version.task.slug}-{found.pk}{suffix}"',
            "X-Content-Type-Options": "nosniff",
        },
    )


@require_safe
@download
def trace(request: HttpRequest, submission_id: UUID) -> HttpResponse:
    """The profiler's raw report, as a file to be saved: a stranger's process wrote it."""
    found = _visible(request, submission_id)
    content = submission_selectors.trace_of(found)
    if content is None:
        raise Http404("This run has no profiler's report.")
    return trace_response(found, content)


@login_required
@require_POST
def cancel(request: HttpRequest, submission_id: UUID) -> HttpResponse:
    found = _visible(request, submission_id)
    submission_services.cancel(user=cast(User, request.user), submission=found)
    if request.headers.get("HX-Request") == "true":
        return render(request, "leaderboard/_submission_live.html", _context(request, submission_id))
    return redirect("submission", submission_id)


@login_required
@require_POST
def visibility(request: HttpRequest, submission_id: UUID) -> HttpResponse:
    found = _visible(request, submission_id)
    submission_services.set_visibility(
        user=cast(User, request.user), submission=found, is_public=request.POST.get("is_public") == "on"
    )
    return redirect("submission", submission_id)


def _context(request: HttpRequest, submission_id: UUID) -> dict[str, Any]:
    found = _visible(request, submission_id)
    place = submission_selectors.queue_place(found.evaluation)
    forecast = forecast_selectors.of_submission(found)
    run = run_of(found, place)
    return {
        "submission": found,
        "run": run,
        "audit_counts": _audit_counts(found, run),
        "forecast": forecast,
        "may_manage": may_manage(found, request.user),
        "search": search_runs.entered_as(found, request.user),
    }


def _audit_counts(found: Submission, run: RunView) -> bool:
    """Whether the board shows the times of the audit, which was slower, and not those of the run itself."""
    score = getattr(found, "score", None)
    return bool(score and run.score and score.seconds != run.score["seconds"])


def _visible(request: HttpRequest, submission_id: UUID) -> Submission:
    try:
        return submission_selectors.get_visible(submission_id, request.user)
    except Submission.DoesNotExist:
        raise Http404("There is no such submission, or it is not yours to see.") from None
