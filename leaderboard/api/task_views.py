"""Tasks, boards, devices and people, to be read by anyone."""

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import serializers, submission_serializers
from leaderboard.api.views_base import DEVICE_REQUIRED, KERNELS, VERSION, ApiView, chosen_version, reply
from leaderboard.models import TaskVersion
from leaderboard.selectors import boards, devices, options, tasks, users
from leaderboard.selectors.specs import spec_of
from runners.contract.entry_point import declaration
from runners.contract.storable import is_storable
from runners.contract.vocabulary import Work
from runners.models import Device

_SUBMISSIONS_SHOWN = 50


class TaskList(ApiView):
    @extend_schema(operation_id="tasks_list", responses=serializers.TaskOut(many=True))
    def get(self, request: Request) -> Response:
        """Every task with its leaders per device."""
        return reply(serializers.TaskOut(tasks.task_cards(), many=True))


class TaskDetail(ApiView):
    @extend_schema(
        operation_id="task_read",
        parameters=[VERSION],
        responses={200: serializers.TaskDetailOut, 404: serializers.Error},
    )
    def get(self, request: Request, slug: str) -> Response:
        """One version of a task: statement, reference, entry points, cases and tolerances."""
        version = chosen_version(request, slug)
        return reply(serializers.TaskDetailOut(_detail(version)))


class TaskBoard(ApiView):
    @extend_schema(
        operation_id="task_board",
        parameters=[DEVICE_REQUIRED, VERSION, KERNELS],
        responses={200: serializers.BoardOut, 400: serializers.Error, 404: serializers.Error},
    )
    def get(self, request: Request, slug: str) -> Response:
        """The leaderboard of a task version on a device, fastest first.

        With ``kernels`` only entries that launched their own kernels, or a library's; ranks are those among
        them.
        """
        kernels = request.query_params.get("kernels", "")
        if kernels not in ("", *Work):
            raise ValidationError({"kernels": f"own, library or nothing, not {kernels!r}"})
        board = boards.board(chosen_version(request, slug), _device(request), request.user, kernels)
        return reply(serializers.BoardOut(board))


class TaskHistory(ApiView):
    @extend_schema(
        operation_id="task_history",
        parameters=[DEVICE_REQUIRED, VERSION],
        responses={
            200: serializers.HistoryPointOut(many=True),
            400: serializers.Error,
            404: serializers.Error,
        },
    )
    def get(self, request: Request, slug: str) -> Response:
        """Best-so-far steps on a board, oldest first."""
        points = boards.history(chosen_version(request, slug), _device(request))
        return reply(serializers.HistoryPointOut(points, many=True))


class TaskOptions(ApiView):
    @extend_schema(
        operation_id="task_options", responses={200: serializers.OptionsOut, 404: serializers.Error}
    )
    def get(self, request: Request, slug: str) -> Response:
        """What can be chosen for a submission, and why the rest can't."""
        version = tasks.current_version(tasks.get_task(slug))
        user = request.user if isinstance(request.user, User) else None
        return reply(serializers.OptionsOut(options.submit_options(user, version)))


class RecordList(ApiView):
    @extend_schema(operation_id="records_list", responses=serializers.RecordOut(many=True))
    def get(self, request: Request) -> Response:
        """The newest records of people on boards of current versions, newest first."""
        return reply(serializers.RecordOut(tasks.records(request.user), many=True))


class DeviceList(ApiView):
    @extend_schema(operation_id="devices_list", responses=serializers.DeviceOut(many=True))
    def get(self, request: Request) -> Response:
        """Every device: health, queue, expected wait, measured ceilings."""
        return reply(serializers.DeviceOut(devices.device_statuses(), many=True))


class UserDetail(ApiView):
    @extend_schema(
        operation_id="user_read",
        responses={200: submission_serializers.ProfileOut, 404: serializers.Error},
    )
    def get(self, request: Request, username: str) -> Response:
        """A person's places and the newest submissions you may see."""
        profile = users.profile(username, request.user)
        shown = {
            "user": profile.user,
            "best": profile.best,
            "submissions": profile.submissions[:_SUBMISSIONS_SHOWN],
        }
        return reply(submission_serializers.ProfileOut(shown))


def _device(request: Request) -> Device:
    slug = request.query_params.get("device", "")
    if not slug or not is_storable(slug):
        raise ValidationError({"device": "name a device by its slug"})
    return Device.objects.get(slug=slug)


def _detail(version: TaskVersion) -> dict[str, object]:
    spec = spec_of(version)
    return {
        "slug": version.task.slug,
        "title": version.task.title,
        "summary": version.task.summary,
        "is_open": version.task.is_open,
        "version": version.number,
        "spec": version.spec_id,
        "statement": version.statement,
        "reference": spec.reference,
        "languages": spec.languages,
        "entry_points": {language: declaration(spec, language) for language in spec.languages},
        "starters": version.starters,
        "tolerances": spec.tolerances,
        "cases": spec.cases,
        "versions": tasks.versions(version.task),
    }
