"""Tokens: shown once, then never again, and gone when revoked."""

import re

from django.contrib.auth.models import User
from django.test import Client

from leaderboard.models import ApiToken


def make(client: Client) -> str:
    form = {"name": "laptop", "scopes": ["read"], "days": "30"}
    body = client.post("/settings/tokens/", form).content.decode()
    found = re.search(r'id="new-token">([^<]+)<', body)
    assert found
    return found.group(1)


def test_the_text_is_shown_once(client: Client, owner: User) -> None:
    client.force_login(owner)
    text = make(client)
    assert text not in client.get("/settings/tokens/").content.decode()
    assert "no-store" in client.get("/settings/tokens/")["Cache-Control"]


def test_others_cannot_revoke_it(client: Client, owner: User, outsider: User) -> None:
    client.force_login(owner)
    make(client)
    token = ApiToken.objects.get()
    client.force_login(outsider)
    client.post(f"/settings/tokens/{token.pk}/revoke/")
    token.refresh_from_db()
    assert token.revoked_at is None
    client.force_login(owner)
    client.post(f"/settings/tokens/{token.pk}/revoke/")
    token.refresh_from_db()
    assert token.revoked_at is not None


def test_a_bad_form_makes_nothing(client: Client, owner: User) -> None:
    client.force_login(owner)
    for form in (
        {"name": "", "scopes": ["read"], "days": "30"},
        {"name": "x", "scopes": ["all"], "days": "30"},
    ):
        assert client.post("/settings/tokens/", form).status_code == 200
    assert not ApiToken.objects.exists()


def test_a_token_without_a_scope_is_refused_with_what_to_do_and_an_unused_one_was_never_used(
    client: Client, owner: User
) -> None:
    client.force_login(owner)
    make(client)
    body = client.post("/settings/tokens/", {"name": "laptop", "days": "30"}).content.decode()
    assert "Choose at least one: without a scope a token can do nothing." in body
    assert "<td>read</td><td>never</td>" in body
