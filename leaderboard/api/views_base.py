"""What all API views share."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.permissions import IsAuthenticated, IsAuthenticatedOrReadOnly
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from leaderboard.api.permissions import HasScope
from leaderboard.models import TaskVersion
from leaderboard.numbers import whole_number
from leaderboard.selectors import tasks
from runners.contract.storable import storable
from runners.contract.vocabulary import Work

DEVICE = OpenApiParameter("device", str, description="Slug of the device.")
DEVICE_REQUIRED = OpenApiParameter("device", str, required=True, description="Slug of the device.")
VERSION = OpenApiParameter("version", int, description="Number of the task version, else the current one.")

KERNELS = OpenApiParameter(
    "kernels", str, enum=list(Work), description="Only entries that launched these; else all."
)


class ApiView(APIView):
    permission_classes = [IsAuthenticatedOrReadOnly, HasScope]


class PersonalView(APIView):
    """About whoever asks."""

    permission_classes = [IsAuthenticated, HasScope]


@extend_schema(exclude=True)
class NothingHere(ApiView):
    """Every address that is none: a typed 404 instead of a page."""

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        self.http_method_names = []  # whatever the method, the answer is the same
        return super().dispatch(request, *args, **kwargs)

    def http_method_not_allowed(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotFound("There is no such address in the API.")


def user_of(request: Request) -> User:
    """The person who asks; for views that let nobody else in."""
    user = request.user
    assert isinstance(user, User)  # noqa: S101 the permission classes have seen to it
    return user


def parsed(serializer: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """The request's body, checked. Raises ValidationError."""
    form = serializer(data=request.data)
    form.is_valid(raise_exception=True)
    values: dict[str, Any] = form.validated_data
    return values


def equal_to(fields: Mapping[str, str], request: Request) -> dict[str, str]:
    """The filters asked of a list: ``fields`` maps query parameters to the fields that must equal them."""
    return {
        field: storable(request.query_params[name])
        for name, field in fields.items()
        if name in request.query_params
    }


def chosen_version(request: Request, slug: str) -> TaskVersion:
    """The version that ``?version=`` names, else the current one.

    Raises ValidationError, Task.DoesNotExist, TaskVersion.DoesNotExist.
    """
    task = tasks.get_task(slug)
    text = request.query_params.get("version", "")
    if not text:
        return tasks.current_version(task)
    number = whole_number(text, digits=9)
    if number is None:
        raise ValidationError({"version": "must be a whole number"})
    return tasks.get_version(task, number)


def reply(serializer: Serializer[Any], status: int = 200, **headers: str) -> Response:
    return Response(serializer.data, status=status, headers=headers)
