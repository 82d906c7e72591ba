"""What a token may do. Sessions may do everything their user may."""

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from leaderboard.models import ApiToken


class HasScope(BasePermission):
    """A token needs ``read`` to read and ``submit`` to change anything.

    PATCH needs both: it decides who may read a thing and answers with the thing itself, whoever made it.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not isinstance(request.auth, ApiToken):
            return True
        lacking = [scope for scope in _needed(request.method) if scope not in request.auth.scopes]
        if lacking:
            self.message = f"The token lacks the scope {lacking[0].value!r}."
        return not lacking


def _needed(method: str | None) -> tuple[ApiToken.Scope, ...]:
    if method in SAFE_METHODS:
        return (ApiToken.Scope.READ,)
    return (ApiToken.Scope.SUBMIT, ApiToken.Scope.READ) if method == "PATCH" else (ApiToken.Scope.SUBMIT,)


class SessionOnly(BasePermission):
    """Tokens can't manage tokens: a leaked one must not make itself successors."""

    message = "Tokens are managed on the site or with its session, not with a token."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return request.auth is None
