"""Personal tokens: ``Authorization: Bearer kh_…``."""

from django.contrib.auth.models import User
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from leaderboard.models import ApiToken
from leaderboard.services import tokens


class TokenAuthentication(BaseAuthentication):
    """A request with a bearer token acts for its user, within the token's scopes."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        words = get_authorization_header(request).split()
        if not words or words[0].lower() != b"bearer":
            return None
        if len(words) != 2:
            raise AuthenticationFailed("The Authorization header must read: Bearer <token>.")
        token = tokens.authenticate(text=words[1].decode("latin-1"))
        if token is None:
            raise AuthenticationFailed("The token is unknown, revoked or expired.")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="KernelHub"'


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # drf-spectacular has no types
    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A personal token, made on the site."}
