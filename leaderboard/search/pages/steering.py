"""What the owner of a run may do to it, by forms. Each answers with the run's page."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from leaderboard.numbers import whole_number
from leaderboard.search.models import SearchRun
from leaderboard.search.pages.shared import amount, visible, whole
from leaderboard.search.services import entering, runs
from leaderboard.search.services.limits import Limits
from leaderboard.services.errors import Refusal

P = ParamSpec("P")
Act = Callable[[HttpRequest, SearchRun, User], str]


def _steers(act: Act) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """``act`` does it and says what it did, or nothing. PermissionDenied of a service becomes a 403."""

    @login_required
    @require_POST
    @wraps(act)
    def view(request: HttpRequest, run_id: UUID) -> HttpResponse:
        run = visible(request, run_id)
        assert isinstance(request.user, User)  # noqa: S101 login_required has seen to it
        try:
            if said := act(request, run, request.user):
                messages.success(request, said)
        except Refusal as refusal:
            messages.error(request, refusal.message)
        return redirect("search", run_id)

    return view  # type: ignore[return-value]  # login_required loses the parameters


@_steers
def pause(request: HttpRequest, run: SearchRun, user: User) -> str:
    return "" if runs.pause(run=run, user=user) else runs.WHY_NOT["pause"]


@_steers
def resume(request: HttpRequest, run: SearchRun, user: User) -> str:
    return "" if runs.resume(run=run, user=user) else runs.WHY_NOT["resume"]


@_steers
def cancel(request: HttpRequest, run: SearchRun, user: User) -> str:
    return "" if runs.cancel(run=run, user=user) else runs.WHY_NOT["cancel"]


@_steers
def extend(request: HttpRequest, run: SearchRun, user: User) -> str:
    form = request.POST
    more = Limits(
        measurements=whole(form, "measurements"),
        device_seconds=amount(form, "device_seconds"),
        wall_seconds=60 * amount(form, "minutes"),
        tokens=whole(form, "tokens"),
        money=amount(form, "money"),
    )
    runs.extend(run=run, user=user, more=more)
    return "The limits were raised."


@_steers
def stop(request: HttpRequest, run: SearchRun, user: User) -> str:
    read = {whole_number(text, digits=9) for text in request.POST.getlist("candidate")[:500]}
    stopped = runs.stop_candidates(run=run, user=user, numbers=[item for item in read if item is not None])
    return f"{stopped} candidate{'' if stopped == 1 else 's'} stopped."


@_steers
def visibility(request: HttpRequest, run: SearchRun, user: User) -> str:
    runs.set_visibility(run=run, user=user, is_public=request.POST.get("is_public") == "on")
    return ""


@_steers
def enter(request: HttpRequest, run: SearchRun, user: User) -> str:
    entering.enter(run=run, user=user)
    return "The best kernel was entered; its place shows once it was measured as a ranked run."
