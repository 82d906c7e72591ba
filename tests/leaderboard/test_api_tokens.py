"""The API's tokens: within their scopes, made and revoked by a session alone."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from leaderboard.models import ApiToken, Submission, Task

from .conftest import entry, with_token

pytestmark = pytest.mark.usefixtures("fresh_throttles")

Submit = Callable[..., Submission]
Finish = Callable[..., Submission]


def test_tokens_act_within_their_scopes(owner: User, task: Task, device: object) -> None:
    reader, writer = with_token(owner, "read"), with_token(owner, "submit")
    assert reader.get("/api/v1/submissions/").status_code == 200
    refused = reader.post("/api/v1/submissions/", entry(), format="json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "permission_denied")
    assert "submit" in refused.json()["error"]["message"]
    assert writer.post("/api/v1/submissions/", entry(), format="json").status_code == 201
    assert writer.get("/api/v1/submissions/").status_code == 403


def test_bad_tokens_are_refused_even_where_anyone_may_read(api: APIClient, owner: User) -> None:
    for header in ("Bearer nonsense", "Bearer", "Bearer a b", "Bearer \u00ff"):
        api.credentials(HTTP_AUTHORIZATION=header)
        response = api.get("/api/v1/tasks/")
        assert (response.status_code, response.json()["error"]["code"]) == (401, "authentication_failed")
        assert response["WWW-Authenticate"].startswith("Bearer")


def test_tokens_cannot_manage_tokens(owner: User) -> None:
    client = with_token(owner, "read", "submit")
    body = {"name": "another", "scopes": ["read"]}
    assert client.get("/api/v1/tokens/").status_code == 403
    assert client.post("/api/v1/tokens/", body, format="json").status_code == 403
    assert client.delete(f"/api/v1/tokens/{ApiToken.objects.get().pk}/").status_code == 403
    assert ApiToken.objects.filter(revoked_at=None).count() == 1


def test_a_session_makes_and_revokes_tokens(as_owner: APIClient, api: APIClient, outsider: User) -> None:
    created = as_owner.post("/api/v1/tokens/", {"name": "laptop", "scopes": ["read"]}, format="json")
    assert created.status_code == 201
    text = created.json()["token"]
    listed = as_owner.get("/api/v1/tokens/").content.decode()
    assert "laptop" in listed
    assert text not in listed
    api.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    assert api.get("/api/v1/submissions/").status_code == 200
    other = APIClient()
    other.force_login(outsider)
    address = f"/api/v1/tokens/{created.json()['id']}/"
    assert other.delete(address).status_code == 404
    assert as_owner.delete(address).status_code == 204
    assert as_owner.delete(address).status_code == 404
    assert api.get("/api/v1/submissions/").status_code == 401


def test_showing_a_submission_needs_the_scope_to_read_too(owner: User, submit: Submit) -> None:
    private = submit(owner)
    path = f"/api/v1/submissions/{private.pk}/"
    for scope, lacking in (("submit", "read"), ("read", "submit")):
        response = with_token(owner, scope).patch(path, {"is_public": True}, format="json")
        assert response.status_code == 403
        assert response.json()["error"]["message"] == f"The token lacks the scope '{lacking}'."
    private.refresh_from_db()
    assert not private.is_public
    response = with_token(owner, "read", "submit").patch(path, {"is_public": True}, format="json")
    assert response.json()["is_public"] is True
