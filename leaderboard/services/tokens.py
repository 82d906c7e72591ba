"""Personal API tokens. The text is shown once; only its digest is kept."""

import hashlib
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone

from leaderboard.models import ApiToken
from leaderboard.services.errors import Refusal
from runners.contract.storable import is_storable

PREFIX = "kh_"
_RANDOM_BYTES = 24  # 32 characters of URL-safe base64
_SHOWN = 8  # characters of the text that lists show
_TOUCH_EVERY = timedelta(minutes=1)
_MOST = 50  # live tokens of one person


def create(
    *, user: User, name: str, scopes: Iterable[str], expires_at: datetime | None = None
) -> tuple[ApiToken, str]:
    """A new token and its text, which can't be had again.

    Raises Refusal: name_missing, name_too_long, scope_unknown, expiry_past, too_many_tokens.
    """
    name = name.strip()
    if not name:
        raise Refusal("name_missing", "Give the token a name, so that you know it again.")
    if len(name) > 80 or not is_storable(name):
        raise Refusal("name_too_long", "A token's name has at most 80 characters.")
    chosen = sorted(set(scopes))
    unknown = [scope for scope in chosen if scope not in ApiToken.Scope.values]
    if unknown or not chosen:
        known = ", ".join(ApiToken.Scope.values)
        wrong = f"{unknown[0]!r} is no scope" if unknown else "A token needs a scope"
        raise Refusal("scope_unknown", f"{wrong}; choose from {known}.")
    if expires_at is not None and expires_at <= timezone.now():
        raise Refusal("expiry_past", "The expiry date lies in the past.")
    if ApiToken.objects.filter(user=user, revoked_at__isnull=True).count() >= _MOST:
        raise Refusal("too_many_tokens", f"You have {_MOST} tokens; revoke one that you no longer use.")
    text = PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
    token = ApiToken.objects.create(
        user=user,
        name=name,
        prefix=text[:_SHOWN],
        digest=digest_of(text),
        scopes=chosen,
        expires_at=expires_at,
    )
    return token, text


def revoke(*, user: User, token_id: int) -> bool:
    """Revoke one of the user's own tokens; False when there is no such live token."""
    live = ApiToken.objects.filter(pk=token_id, user=user, revoked_at__isnull=True)
    return bool(live.update(revoked_at=timezone.now()))


def authenticate(*, text: str) -> ApiToken | None:
    """The live token with this text and its active user, or None. Notes its use at most once a minute."""
    now = timezone.now()
    token = (
        ApiToken.objects.select_related("user")
        .filter(digest=digest_of(text), revoked_at__isnull=True, user__is_active=True)
        .filter(Q(expires_at__isnull=True) | Q(expires_at__gt=now))
        .first()
    )
    if token is None:
        return None
    if token.last_used_at is None or now - token.last_used_at > _TOUCH_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


def digest_of(text: str) -> str:
    """A fast hash is enough: the text has 192 random bits and can't be guessed."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
