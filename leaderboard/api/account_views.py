"""Budgets and tokens of whoever asks."""

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.api import submission_serializers as shapes
from leaderboard.api.permissions import SessionOnly
from leaderboard.api.serializers import Error
from leaderboard.api.views_base import DEVICE, PersonalView, parsed, reply, user_of
from leaderboard.models import ApiToken
from leaderboard.selectors.budgets import budgets_of
from leaderboard.services import tokens
from runners.contract.storable import storable
from runners.models import Device


class BudgetList(PersonalView):
    @extend_schema(
        operation_id="budget_list",
        parameters=[DEVICE],
        responses={200: shapes.DeviceBudgetOut(many=True), 401: Error},
    )
    def get(self, request: Request) -> Response:
        """Device seconds left today, per device."""
        devices = Device.objects.order_by("slug")
        if slug := request.query_params.get("device", ""):
            devices = devices.filter(slug=storable(slug))
        found = list(devices)
        budgets = budgets_of(user_of(request), found)
        rows = [{"device": device.slug, **vars(budgets[device.pk])} for device in found]
        return reply(shapes.DeviceBudgetOut(rows, many=True))


class TokenList(PersonalView):
    permission_classes = [IsAuthenticated, SessionOnly]

    @extend_schema(operation_id="tokens_list", responses={200: shapes.TokenOut(many=True), 403: Error})
    def get(self, request: Request) -> Response:
        """Your tokens, without their texts."""
        mine = list(ApiToken.objects.filter(user=user_of(request)))
        return Response([shapes.TokenOut(token).data for token in mine])

    @extend_schema(
        operation_id="token_create",
        request=shapes.TokenIn,
        responses={201: shapes.NewTokenOut, 400: Error, 403: Error},
    )
    def post(self, request: Request) -> Response:
        """A new token. Its text is in this answer and nowhere else."""
        values = parsed(shapes.TokenIn, request)
        token, text = tokens.create(user=user_of(request), **values)
        return Response({**shapes.TokenOut(token).data, "token": text}, status=201)


class TokenDetail(PersonalView):
    permission_classes = [IsAuthenticated, SessionOnly]

    @extend_schema(operation_id="token_revoke", responses={204: None, 403: Error, 404: Error})
    def delete(self, request: Request, token_id: int) -> Response:
        """Revoke a token, at once and for good."""
        if not tokens.revoke(user=user_of(request), token_id=token_id):
            raise NotFound("You have no such live token.")
        return Response(status=204)
