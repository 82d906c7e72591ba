"""What a token may do to a search, and what the answers tell it, by scope and by whose it is."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from leaderboard.models import TaskVersion
from leaderboard.search.models import SearchRun
from leaderboard.search.services import runs
from leaderboard.services import tokens
from runners.models import Device

Start = Callable[..., SearchRun]

#: Every change of a search but PATCH: (path, body, keys of the answer).
CHANGES: list[tuple[str, dict[str, Any], set[str]]] = [
    ("pause/", {}, {"changed", "reason"}),  # it was paused before
    ("resume/", {}, {"changed"}),
    ("extend/", {"measurements": 1}, {"changed"}),
    ("stop/", {"candidates": [0]}, {"stopped"}),
    ("cancel/", {}, {"changed"}),
    ("enter/", {}, {"error"}),  # it has found nothing
    ("extend/", {"measurements": 1}, {"error"}),  # it was cancelled
]
#: Words that only who may read the search is to read.
TOLD = ("paused for a secret reason", "softmax", "cpu-test")


def with_token(user: User, *scopes: str) -> APIClient:
    _, text = tokens.create(user=user, name="a token", scopes=list(scopes))
    found = APIClient()
    found.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    return found


def test_a_submit_only_token_steers_and_is_told_nothing_of_the_search(start: Start, owner: User) -> None:
    run = start()
    runs.pause(run=run, user=None, message=TOLD[0])
    token = with_token(owner, "submit")
    for path, body, keys in CHANGES:
        answer = token.post(f"/api/v1/searches/{run.pk}/{path}", body, format="json")
        assert set(answer.json()) == keys, (path, answer.json())
        assert not any(word in answer.content.decode() for word in TOLD), path
    run.refresh_from_db()
    assert (run.stop_reason, run.measurements_limit) == ("cancelled", 11)


def test_a_submit_only_token_reads_no_search_at_all(start: Start, owner: User) -> None:
    run = start()
    token = with_token(owner, "submit")
    for path in ("", "events/", "candidates/", "candidates/0/", "pool/"):
        answer = token.get(f"/api/v1/searches/{run.pk}/{path}")
        assert (answer.status_code, "read" in answer.json()["error"]["message"]) == (403, True), path
    assert token.get("/api/v1/searches/").status_code == 403
    shown = token.patch(f"/api/v1/searches/{run.pk}/", {"is_public": True}, format="json")
    assert shown.status_code == 403


def test_a_read_only_token_changes_nothing(start: Start, owner: User) -> None:
    run = start()
    token = with_token(owner, "read")
    for path, body, _ in CHANGES:
        answer = token.post(f"/api/v1/searches/{run.pk}/{path}", body, format="json")
        assert answer.status_code == 403, path
    run.refresh_from_db()
    assert (run.status, run.seq) == ("running", 1)


@pytest.mark.parametrize("is_public", [False, True])
def test_nobody_steers_the_search_of_another(
    start: Start, owner: User, outsider: User, is_public: bool
) -> None:
    run = start()
    runs.set_visibility(run=run, user=owner, is_public=is_public)
    for client, refused in ((with_token(outsider, "read", "submit"), 403), (APIClient(), 401)):
        for path, body, _ in CHANGES:
            answer = client.post(f"/api/v1/searches/{run.pk}/{path}", body, format="json")
            assert answer.status_code == (refused if is_public or refused == 401 else 404), path
    run.refresh_from_db()
    assert (run.status, run.seq) == ("running", 1)


def test_a_submit_only_token_starts_a_search_and_may_not_follow_it(
    owner: User, version: TaskVersion, device: Device
) -> None:
    token = with_token(owner, "submit")
    body = {"task": "softmax", "device": device.slug, "measurements": 3}
    made = token.post("/api/v1/searches/", body, format="json")
    assert made.status_code == 201, made.json()
    assert token.get(made["Location"]).status_code == 403
