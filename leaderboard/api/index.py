"""The API's own address: where a client that knows nothing else starts from."""

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from leaderboard.api.views_base import ApiView

#: What can be read without knowing anybody's identifiers, named as the addresses are.
_NAMES = ("docs", "schema", "tasks", "records", "devices", "submissions", "searches", "budget", "tokens")


class Index(ApiView):
    @extend_schema(
        operation_id="index",
        tags=["index"],
        responses=inline_serializer("IndexOut", {name: serializers.URLField() for name in _NAMES}),
    )
    def get(self, request: Request) -> Response:
        """Addresses to start from: the documentation, its schema and every list."""
        return Response({name: reverse(f"api:{name}", request=request) for name in _NAMES})
