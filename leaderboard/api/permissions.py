"""What a token may do. Sessions may do everything their user may."""

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from leaderboard.models import ApiToken


class HasScope(BasePermission):
    """A token needs ``read`` to read and ``submit`` to change anything."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not isinstance(request.auth, ApiToken):
            return True
        needed = ApiToken.Scope.READ if request.method in SAFE_METHODS else ApiToken.Scope.SUBMIT
        self.message = f"The token lacks the scope {needed.value!r}."
        return needed in request.auth.scopes


class SessionOnly(BasePermission):
    """Tokens can't manage tokens: a leaked one must not make itself successors."""

    message = "Tokens are managed on the site or with its session, not with a token."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return request.auth is None
