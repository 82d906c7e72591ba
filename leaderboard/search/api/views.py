"""Search runs: start, list, follow, steer."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.generics import ListAPIView
from rest_framework.permissions import IsAuthenticatedOrReadOnly
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api.pagination import NewestFirst
from leaderboard.api.permissions import HasScope
from leaderboard.api.serializers import Error
from leaderboard.api.submission_serializers import VisibilityIn
from leaderboard.api.views_base import ApiView, PersonalView, equal_to, parsed, reply, user_of
from leaderboard.connections import give_back
from leaderboard.downloads import gzip_response, turn_of
from leaderboard.numbers import whole_number
from leaderboard.search.api import shapes
from leaderboard.search.models import SearchRun
from leaderboard.search.plan import Plan, Policy
from leaderboard.search.selectors import recordings
from leaderboard.search.selectors import runs as selectors
from leaderboard.search.services import entering
from leaderboard.search.services import runs as services
from leaderboard.search.services.limits import Limits
from leaderboard.services.errors import Refusal

_FILTERS = {
    "task": "version__task__slug",
    "device": "device__slug",
    "status": "status",
    "user": "user__username",
}
_SINCE = OpenApiParameter("since", int, description="Only what events after this number changed.")
_AFTER = OpenApiParameter("after", int, description="And, of that event, candidates after this number.")
_REFUSALS = {400: Error, 401: Error, 403: Error, 409: Error, 429: Error, 503: Error}


class SearchList(ListAPIView[SearchRun]):
    permission_classes = [IsAuthenticatedOrReadOnly, HasScope]
    pagination_class = NewestFirst
    serializer_class = shapes.SearchOut
    queryset = SearchRun.objects.none()  # for the schema; get_queryset decides

    @extend_schema(
        operation_id="searches_list",
        parameters=[OpenApiParameter(name, str, description="Only equal ones.") for name in _FILTERS],
        responses={200: shapes.SearchOut(many=True), 400: Error},
    )
    def get(self, request: Request) -> Response:
        """Public searches and your own, newest first."""
        return self.list(request)

    def get_queryset(self) -> QuerySet[SearchRun]:
        return selectors.visible_runs(self.request.user).filter(**equal_to(_FILTERS, self.request))

    @extend_schema(
        operation_id="search_start",
        request=shapes.SearchIn,
        responses={201: shapes.SearchOut, **_REFUSALS},
    )
    def post(self, request: Request) -> Response:
        """Start a search. Follow it by its events and candidates."""
        values = parsed(shapes.SearchIn, request)
        multiple = values.get("multiple") or services.usual_multiple(values["generator"])
        plan = Plan(Policy(values["policy"]), values["seed"], slots=values["slots"], multiple=multiple)
        run = services.start(
            user=user_of(request),
            task_slug=values["task"],
            device_slug=values["device"],
            generator=values["generator"],
            language=values["language"],
            plan=plan,
            limits=_limits(values),
            is_public=values["is_public"],
            enters_best=values["enters_best"],
            models=values["models"],
            verifiers=values["verifiers"],
        )
        stored = selectors.get_visible(run.pk, request.user)
        return reply(shapes.SearchOut(stored), 201, Location=reverse("api:search", args=[run.pk]))


class SearchDetail(ApiView):
    @extend_schema(operation_id="search_read", responses={200: shapes.SearchOut, 404: Error})
    def get(self, request: Request, run_id: UUID) -> Response:
        """A search you may see, with what it used and found so far."""
        return reply(shapes.SearchOut(selectors.get_visible(run_id, request.user)))

    @extend_schema(
        operation_id="search_set_visibility",
        request=VisibilityIn,
        responses={200: shapes.SearchOut, 400: Error, 403: Error, 404: Error},
    )
    def patch(self, request: Request, run_id: UUID) -> Response:
        """Let others watch it, or no longer."""
        run = selectors.get_visible(run_id, request.user)
        is_public = parsed(VisibilityIn, request)["is_public"]
        services.set_visibility(run=run, user=user_of(request), is_public=is_public)
        return reply(shapes.SearchOut(selectors.get_visible(run_id, request.user)))


class SearchEvents(ApiView):
    @extend_schema(
        operation_id="search_events",
        parameters=[_SINCE],
        responses={200: shapes.EventOut(many=True), 400: Error, 404: Error},
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """The event log, oldest first, 500 at most; ask again with the last one's number until none comes."""
        run = selectors.get_visible(run_id, request.user)
        _only(request, _SINCE)
        events = selectors.events_since(run, _since(request))
        give_back()
        shape = shapes.EventOut()  # one for all: making a serializer takes longer than what it does
        return Response([shape.to_representation(event) for event in events])


class SearchCandidates(ApiView):
    @extend_schema(
        operation_id="search_candidates",
        parameters=[_SINCE, _AFTER],
        responses={200: shapes.CandidateOut(many=True), 400: Error, 404: Error},
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """Candidates in the order of their changes, without sources, 500 at most.

        Ask again with the last one's seq as ``since`` and its number as ``after``: one event may have changed
        more than an answer holds.
        """
        run = selectors.get_visible(run_id, request.user)
        _only(request, _SINCE, _AFTER)
        rows = selectors.candidates_since(run, _since(request), _whole(request, "after"))
        give_back()
        shape = shapes.CandidateOut()
        return Response([shape.to_representation(row) for row in rows])


class SearchCandidateDetail(ApiView):
    @extend_schema(operation_id="search_candidate", responses={200: shapes.CandidateDetailOut, 404: Error})
    def get(self, request: Request, run_id: UUID, number: int) -> Response:
        """One candidate with its source."""
        run = selectors.get_visible(run_id, request.user)
        row = run.candidates.select_related("kernel", "evaluation").get(number=number)
        return reply(shapes.CandidateDetailOut(row))


class SearchPool(ApiView):
    @extend_schema(
        operation_id="search_pool",
        responses={
            (200, "application/gzip"): OpenApiTypes.BINARY,
            404: Error,
            409: Error,
            429: Error,
            503: Error,
        },
    )
    def get(self, request: Request, run_id: UUID) -> HttpResponse:
        """Every candidate with source and outcome, gzipped JSON lines that search_replay searches again."""
        with turn_of(request):
            run = selectors.get_visible(run_id, request.user)
            if recordings.is_large(run):
                raise Refusal(
                    "pool_large", "The search is too large for a download; use manage.py search_export."
                )
            return gzip_response(recordings.packed(run), f"{run.version.task.slug}-{run.pk}.jsonl.gz")


class SearchPause(PersonalView):
    @extend_schema(
        operation_id="search_pause", request=None, responses={200: shapes.ChangedOut, 403: Error, 404: Error}
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        """Take no new step; what is being measured is finished."""
        run = selectors.get_visible(run_id, request.user)
        return _changed(services.pause(run=run, user=user_of(request)), "pause")


class SearchResume(PersonalView):
    @extend_schema(
        operation_id="search_resume",
        request=None,
        responses={200: shapes.ChangedOut, 403: Error, 404: Error, 409: Error},
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        """Go on with a paused search; refused when its task, template or device has changed."""
        run = selectors.get_visible(run_id, request.user)
        return _changed(services.resume(run=run, user=user_of(request)), "resume")


class SearchCancel(PersonalView):
    @extend_schema(
        operation_id="search_cancel", request=None, responses={200: shapes.ChangedOut, 403: Error, 404: Error}
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        """End the search and stop what it measures."""
        run = selectors.get_visible(run_id, request.user)
        return _changed(services.cancel(run=run, user=user_of(request)), "cancel")


class SearchExtend(PersonalView):
    @extend_schema(
        operation_id="search_extend",
        request=shapes.MoreIn,
        responses={200: shapes.ChangedOut, 400: Error, 403: Error, 404: Error, 409: Error, 429: Error},
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        """Raise the limits; a search that had used them up goes on.

        Like every change but PATCH it needs no scope to read, and so the answer tells nothing of the search.
        """
        run = selectors.get_visible(run_id, request.user)
        services.extend(run=run, user=user_of(request), more=_limits(parsed(shapes.MoreIn, request)))
        return reply(shapes.ChangedOut({"changed": True}))


class SearchEnter(PersonalView):
    @extend_schema(
        operation_id="search_enter",
        request=None,
        responses={201: shapes.EnteredOut, 403: Error, 404: Error, 409: Error, 429: Error, 503: Error},
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        """Enter the best kernel of an ended search on the board, in its owner's name, machine-written."""
        run = selectors.get_visible(run_id, request.user)
        submission = entering.enter(run=run, user=user_of(request))
        return reply(shapes.EnteredOut({"submission": submission.pk}), 201)


class SearchStop(PersonalView):
    @extend_schema(
        operation_id="search_stop_candidates",
        request=shapes.StopIn,
        responses={200: shapes.StoppedOut, 400: Error, 403: Error, 404: Error},
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        """Never measure these candidates, or stop measuring them."""
        run = selectors.get_visible(run_id, request.user)
        numbers = parsed(shapes.StopIn, request)["candidates"]
        stopped = services.stop_candidates(run=run, user=user_of(request), numbers=numbers)
        return reply(shapes.StoppedOut({"stopped": stopped}))


def _changed(changed: bool, act: str) -> Response:
    why = {} if changed else {"reason": services.WHY_NOT[act]}
    return reply(shapes.ChangedOut({"changed": changed, **why}))


def _limits(values: dict[str, Any]) -> Limits:
    return Limits(
        values["measurements"],
        values["device_seconds"],
        values["wall_seconds"],
        values["tokens"],
        values["money"],
    )


def _only(request: Request, *known: OpenApiParameter) -> None:
    """Refuse any other parameter: a cursor by another name would get the first rows again and again."""
    names = [parameter.name for parameter in known]
    for name in request.query_params:
        if name not in names:
            raise ValidationError({name: f"is no parameter here; this list takes {' and '.join(names)}"})


def _since(request: Request) -> int:
    return _whole(request, "since") or 0


def _whole(request: Request, name: str) -> int | None:
    text = request.query_params.get(name)
    number = None if text is None else whole_number(text)
    if text is not None and number is None:
        raise ValidationError({name: "must be a whole number, not below 0"})
    return number
