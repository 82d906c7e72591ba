from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from leaderboard.models import ApiToken
from leaderboard.services import tokens
from leaderboard.services.errors import Refusal


def test_only_the_digest_of_a_token_is_kept(owner: User) -> None:
    token, text = tokens.create(user=owner, name=" laptop ", scopes=["submit", "read", "read"])
    assert text.startswith("kh_")
    assert len(text) == len("kh_") + 32
    assert (token.name, token.scopes) == ("laptop", ["read", "submit"])
    stored = {str(value) for value in ApiToken.objects.values_list().get()}
    assert text not in stored
    assert tokens.create(user=owner, name="laptop", scopes=["read"])[1] != text


def test_a_live_token_stands_for_its_user(owner: User) -> None:
    _, text = tokens.create(user=owner, name="a", scopes=["read"])
    found = tokens.authenticate(text=text)
    assert found is not None
    assert found.user == owner


@pytest.mark.parametrize("text", ["", "kh_", "kh_" + "a" * 32, "\0", "\ud800"])
def test_other_texts_stand_for_nobody(owner: User, text: str) -> None:
    tokens.create(user=owner, name="a", scopes=["read"])
    assert tokens.authenticate(text=text) is None


def test_revoked_and_expired_tokens_and_those_of_locked_users_are_dead(owner: User, outsider: User) -> None:
    token, text = tokens.create(
        user=owner, name="a", scopes=["read"], expires_at=timezone.now() + timedelta(1)
    )
    assert not tokens.revoke(user=outsider, token_id=token.pk)
    assert tokens.authenticate(text=text)
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert tokens.authenticate(text=text) is None
    ApiToken.objects.update(expires_at=None)
    User.objects.filter(pk=owner.pk).update(is_active=False)
    assert tokens.authenticate(text=text) is None
    User.objects.filter(pk=owner.pk).update(is_active=True)
    assert tokens.revoke(user=owner, token_id=token.pk)
    assert tokens.authenticate(text=text) is None
    assert not tokens.revoke(user=owner, token_id=token.pk)


def test_use_is_noted_at_most_once_a_minute(owner: User) -> None:
    _, text = tokens.create(user=owner, name="a", scopes=["read"])
    tokens.authenticate(text=text)
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    tokens.authenticate(text=text)
    assert ApiToken.objects.get().last_used_at == first
    earlier = first - timedelta(minutes=2)
    ApiToken.objects.update(last_used_at=earlier)
    tokens.authenticate(text=text)
    assert ApiToken.objects.get().last_used_at != earlier


def test_the_number_of_live_tokens_is_bounded(owner: User, outsider: User) -> None:
    for _ in range(50):
        token, _text = tokens.create(user=owner, name="a", scopes=["read"])
    with pytest.raises(Refusal) as caught:
        tokens.create(user=owner, name="a", scopes=["read"])
    assert caught.value.rule == "too_many_tokens"
    tokens.create(user=outsider, name="a", scopes=["read"])
    tokens.revoke(user=owner, token_id=token.pk)
    tokens.create(user=owner, name="a", scopes=["read"])


@pytest.mark.parametrize(
    ("name", "scopes", "days", "rule"),
    [
        (" ", ["read"], 1, "name_missing"),
        ("x" * 81, ["read"], 1, "name_too_long"),
        ("a\0b", ["read"], 1, "name_too_long"),
        ("a\ud800", ["read"], 1, "name_too_long"),
        ("a", [], 1, "scope_unknown"),
        ("a", ["read", "admin"], 1, "scope_unknown"),
        ("a", ["read"], -1, "expiry_past"),
    ],
)
def test_tokens_that_are_refused(owner: User, name: str, scopes: list[str], days: int, rule: str) -> None:
    with pytest.raises(Refusal) as caught:
        tokens.create(user=owner, name=name, scopes=scopes, expires_at=timezone.now() + timedelta(days))
    assert caught.value.rule == rule
    assert not ApiToken.objects.exists()
