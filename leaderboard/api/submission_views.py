"""Submissions: enter, list, read, cancel, show."""

from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.generics import ListAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import submission_serializers as shapes
from leaderboard.api.pagination import NewestFirst
from leaderboard.api.permissions import HasScope
from leaderboard.api.serializers import Error
from leaderboard.api.views_base import ApiView, PersonalView, equal_to, parsed, reply, user_of
from leaderboard.downloads import trace_response, turn_of
from leaderboard.models import Submission
from leaderboard.selectors import submissions as selectors
from leaderboard.services import submissions as services

#: Query parameter → field; the value must equal it.
_FILTERS = {
    "task": "version__task__slug",
    "device": "device__slug",
    "mode": "mode",
    "status": "evaluation__status",
    "verdict": "evaluation__verdict",
}


class SubmissionList(ListAPIView[Submission]):
    permission_classes = [IsAuthenticated, HasScope]
    pagination_class = NewestFirst
    serializer_class = shapes.SubmissionOut
    queryset = Submission.objects.none()  # for the schema; get_queryset decides

    @extend_schema(
        operation_id="submissions_list",
        parameters=[OpenApiParameter(name, str, description="Only equal ones.") for name in _FILTERS],
        responses={200: shapes.SubmissionOut(many=True), 400: Error, 401: Error, 403: Error},
    )
    def get(self, request: Request) -> Response:
        """Your own submissions, newest first."""
        return self.list(request)

    def get_queryset(self) -> QuerySet[Submission]:
        mine = selectors.of_user(user_of(self.request), self.request.user)
        return mine.filter(**equal_to(_FILTERS, self.request))

    @extend_schema(
        operation_id="submission_create",
        request=shapes.SubmissionIn,
        responses={
            201: shapes.SubmissionDetailOut,
            400: Error,
            401: Error,
            403: Error,
            409: Error,
            429: Error,
            503: Error,
        },
    )
    def post(self, request: Request) -> Response:
        """Enter a kernel. It is queued at once; follow it by its id."""
        values = parsed(shapes.SubmissionIn, request)
        submission = services.submit(
            user=user_of(request),
            task_slug=values["task"],
            device_slug=values["device"],
            language=values["language"],
            mode=values["mode"],
            source=values["source"],
            filename=values["filename"],
            is_public=values["is_public"],
        )
        stored = selectors.get_visible(submission.pk, request.user)
        location = reverse("api:submission", args=[submission.pk])
        return reply(
            shapes.SubmissionDetailOut(stored, context={"viewer": request.user}), 201, Location=location
        )


class SubmissionDetail(ApiView):
    @extend_schema(operation_id="submission_read", responses={200: shapes.SubmissionDetailOut, 404: Error})
    def get(self, request: Request, submission_id: UUID) -> Response:
        """A submission you may see, with its progress and its place in the queue."""
        submission = selectors.get_visible(submission_id, request.user)
        return reply(shapes.SubmissionDetailOut(submission, context={"viewer": request.user}))

    @extend_schema(
        operation_id="submission_set_visibility",
        request=shapes.VisibilityIn,
        responses={200: shapes.SubmissionDetailOut, 400: Error, 403: Error, 404: Error},
    )
    def patch(self, request: Request, submission_id: UUID) -> Response:
        """Let others read source and run, or no longer. A token needs both scopes, read and submit."""
        submission = selectors.get_visible(submission_id, request.user)
        is_public = parsed(shapes.VisibilityIn, request)["is_public"]
        services.set_visibility(user=user_of(request), submission=submission, is_public=is_public)
        return reply(shapes.SubmissionDetailOut(submission, context={"viewer": request.user}))


class SubmissionSource(ApiView):
    @extend_schema(operation_id="submission_source", responses={200: shapes.SourceOut, 404: Error})
    def get(self, request: Request, submission_id: UUID) -> Response:
        """The source, for those who may see the submission."""
        kernel = selectors.get_visible(submission_id, request.user).kernel
        return reply(shapes.SourceOut(kernel))


class SubmissionResult(ApiView):
    @extend_schema(operation_id="submission_result", responses={200: OpenApiTypes.OBJECT, 404: Error})
    def get(self, request: Request, submission_id: UUID) -> Response:
        """The result document: every case, raw timing samples, compiler output. 404 until there is one."""
        evaluation = selectors.get_visible(submission_id, request.user).evaluation
        if evaluation.result is None:
            raise NotFound("There is no result yet, or the run ended without one.", code="no_result")
        return Response(evaluation.result)


class SubmissionTrace(ApiView):
    @extend_schema(
        operation_id="submission_trace",
        responses={(200, "application/gzip"): OpenApiTypes.BINARY, 404: Error, 429: Error, 503: Error},
    )
    def get(self, request: Request, submission_id: UUID) -> HttpResponse:
        """The raw report of a run in profile mode, a trace for chrome://tracing. 404 where there is none."""
        with turn_of(request):
            submission = selectors.get_visible(submission_id, request.user)
            content = selectors.trace_of(submission)
        if content is None:
            raise NotFound("This run has no profiler's report.", code="no_trace")
        return trace_response(submission, content)


class SubmissionCancel(PersonalView):
    @extend_schema(
        operation_id="submission_cancel",
        request=None,
        responses={200: shapes.CancelOut, 403: Error, 404: Error},
    )
    def post(self, request: Request, submission_id: UUID) -> Response:
        """Ask for the evaluation to stop."""
        submission = selectors.get_visible(submission_id, request.user)
        asked = services.cancel(user=user_of(request), submission=submission)
        why = {} if asked else {"reason": "The run had ended before."}
        return reply(shapes.CancelOut({"cancelled": asked, **why}))
