"""The API as a program meets it: submitting, its errors, its limits."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from psycopg_pool import PoolTimeout
from rest_framework.test import APIClient

from leaderboard.api.throttles import AnonymousRate
from leaderboard.models import Submission, Task
from runners.contract.vocabulary import Verdict

from .conftest import CPP, PYTHON, entry, with_token

pytestmark = pytest.mark.usefixtures("fresh_throttles")

Submit = Callable[..., Submission]
Finish = Callable[..., Submission]


def test_a_submission_from_entering_to_its_result(
    as_owner: APIClient, task: Task, device: object, finish: Finish
) -> None:
    created = as_owner.post("/api/v1/submissions/", entry(mode="ranked"), format="json")
    assert created.status_code == 201
    body = created.json()
    assert (body["status"], body["queue"]["position"], body["score"]) == ("queued", 1, None)
    assert (body["findings"], body["kernels"]) == ([], "")
    assert created["Location"] == f"/api/v1/submissions/{body['id']}/"
    assert as_owner.get(f"{created['Location']}result/").json()["error"]["code"] == "no_result"
    finding = {"rule": "thread_use", "line": 3, "message": "uses threading", "refuses": False}
    finish(Submission.objects.get(), 2e-3, findings=[finding], work="library")
    read = as_owner.get(created["Location"]).json()
    assert (read["findings"], read["kernels"]) == ([finding], "library")
    assert (read["status"], read["verdict"], read["queue"]) == ("finished", Verdict.PASSED, None)
    assert read["score"]["seconds"] == 2e-3
    assert as_owner.get(f"{created['Location']}result/").json()["device_seconds"] == 12.5
    source = as_owner.get(f"{created['Location']}source/").json()
    assert (source["source"], source["language"]) == (PYTHON, "python")
    board = as_owner.get("/api/v1/tasks/double/board/?device=cpu-test").json()
    assert [(row["rank"], row["username"], row["submission"]) for row in board["rows"]] == [
        (1, "owner", body["id"])
    ]
    assert board["rows"][0]["cases"]["cpu-benchmark-1000"]["seconds"] == 2e-3
    assert board["rows"][0]["kernels"] == "library"
    narrowed = as_owner.get("/api/v1/tasks/double/board/?device=cpu-test&kernels=own").json()
    assert (narrowed["kernels"], narrowed["rows"]) == ("own", [])
    assert as_owner.get("/api/v1/tasks/double/history/?device=cpu-test").json()[0]["seconds"] == 2e-3


@pytest.mark.parametrize(
    ("changes", "status", "code", "field", "line"),
    [
        ({"source": ""}, 400, "empty", "source", None),
        ({"source": "x = 1\ndef kernel(:"}, 400, "syntax_error", "source", 2),
        ({"source": "x = 1"}, 400, "entry_point_missing", "source", None),
        ({"source": "a\nb\0"}, 400, "nul_byte", "source", 2),
        ({"language": "rust"}, 400, "language_unknown", "language", None),
        ({"language": "cuda", "source": CPP}, 400, "language_not_in_task", "language", None),
        ({"task": "no-such"}, 400, "task_unknown", "task", None),
        ({"device": "no-such"}, 400, "device_unknown", "device", None),
        ({"mode": "fast"}, 400, "mode_unknown", "mode", None),
        ({"mode": None}, 400, "invalid", "mode", None),
        ({"source": None}, 400, "invalid", "source", None),
        ({"source": {"a": 1}}, 400, "invalid", "source", None),
        ({"is_public": "maybe"}, 400, "invalid", "is_public", None),
        ({"task": "x" * 1000}, 400, "invalid", "task", None),
    ],
)
def test_refusals_are_typed(
    as_owner: APIClient,
    task: Task,
    device: object,
    changes: dict[str, Any],
    status: int,
    code: str,
    field: str,
    line: int | None,
) -> None:
    response = as_owner.post("/api/v1/submissions/", entry(**changes), format="json")
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["field"], error["line"]) == (status, code, field, line)
    assert error["message"]
    assert not Submission.objects.exists()


def test_spent_budgets_and_closed_tasks_have_statuses_of_their_own(
    as_owner: APIClient, task: Task, device: object, settings: Any
) -> None:
    settings.DEVICE_SECONDS_PER_DAY = 1
    response = as_owner.post("/api/v1/submissions/", entry(), format="json")
    assert (response.status_code, response.json()["error"]["code"]) == (429, "over_budget")
    Task.objects.update(is_open=False)
    response = as_owner.post("/api/v1/submissions/", entry(), format="json")
    assert (response.status_code, response.json()["error"]["code"]) == (409, "task_closed")


def test_errors_outside_any_view_are_typed_too(api: APIClient, as_owner: APIClient, task: Task) -> None:
    found = {
        "/api/v1/nothing/": (404, "not_found"),
        "/api/v1/tasks/no-such/": (404, "not_found"),
        "/api/v1/tasks/double/?version=9": (404, "not_found"),
        "/api/v1/tasks/double/?version=x": (400, "invalid"),
        "/api/v1/tasks/double/board/": (400, "invalid"),
        "/api/v1/tasks/double/board/?device=no": (404, "not_found"),
        "/api/v1/tasks/double/board/?device=cpu-test&kernels=mine": (400, "invalid"),
        "/api/v1/tasks/double/board/?device=%00": (400, "invalid"),
        "/api/v1/users/nobody/": (404, "not_found"),
        "/api/v1/users/a%00b/": (404, "not_found"),
        "/api/v1/submissions/": (401, "not_authenticated"),
        "/api/v1/budget/": (401, "not_authenticated"),
        "/api/v1/submissions/not-a-uuid/": (404, "not_found"),
    }
    for path, (status, code) in found.items():
        response = api.get(path)
        assert (response.status_code, response.json()["error"]["code"]) == (status, code), path
    deleted = as_owner.delete("/api/v1/tasks/double/")
    assert (deleted.status_code, deleted.json()["error"]["code"]) == (405, "method_not_allowed")
    for body, content_type in ((b"{", "application/json"), (b"<a/>", "text/xml")):
        response = as_owner.post("/api/v1/submissions/", body, content_type=content_type)
        assert response.status_code in (400, 415)
        assert response.json()["error"]["code"] in ("parse_error", "unsupported_media_type")
    for body in (b"[]", b"3", b'"x"'):
        response = as_owner.post("/api/v1/submissions/", body, content_type="application/json")
        assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid")


def test_every_field_at_fault_is_named_at_once(as_owner: APIClient, task: Task) -> None:
    body = {"task": "double", "mode": "x" * 17, "is_public": "maybe"}
    error = as_owner.post("/api/v1/submissions/", body, format="json").json()["error"]
    named = [word.removesuffix(":") for word in error["message"].split() if word.endswith(":")]
    assert (named, error["field"]) == (["device", "mode", "source", "is_public"], "device")


def test_a_cancel_that_comes_too_late_says_why_it_did_nothing(
    as_owner: APIClient, owner: User, submit: Callable[..., Submission]
) -> None:
    address = f"/api/v1/submissions/{submit(owner).pk}/cancel/"
    assert as_owner.post(address).json() == {"cancelled": True}
    assert as_owner.post(address).json() == {"cancelled": False, "reason": "The run had ended before."}


def test_a_fault_of_ours_is_json_without_its_details(
    task: Task, device: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("leaderboard.selectors.devices.device_statuses", fail)
    response = Client(raise_request_exception=False).get("/api/v1/devices/")
    assert response.status_code == 500
    assert response.json()["error"]["code"] == "internal_error"
    assert b"secret" not in response.content


def test_sessions_need_the_csrf_token(owner: User, task: Task, device: object) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(owner)
    response = client.post("/api/v1/submissions/", entry(), format="json")
    assert (response.status_code, response.json()["error"]["code"]) == (403, "permission_denied")
    assert not Submission.objects.exists()


def test_requests_are_throttled_with_a_typed_error(
    api: APIClient, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AnonymousRate, "THROTTLE_RATES", {"anon": "2/min"})
    statuses = [api.get("/api/v1/devices/").status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    response = api.get("/api/v1/devices/")
    assert response.json()["error"]["code"] == "throttled"
    assert int(response["Retry-After"]) > 0


def test_a_cache_that_is_down_does_not_take_the_api_down(
    api: APIClient, db: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Down:
        def get(self, *_: object) -> None:
            raise ConnectionError("no Redis")

    monkeypatch.setattr(AnonymousRate, "cache", Down())
    assert api.get("/api/v1/devices/").status_code == 200
    assert "not throttled" in caplog.text


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, "parse_error"),
        (b"[" * 200_000, 400, "parse_error"),
        (b'{"source": "\xff"}', 400, "parse_error"),
        (b'{"source": NaN}', 400, "parse_error"),
        (b'{"source": ' + b"1" * 10_000 + b"}", 400, "parse_error"),
        (b'"' + b"x" * 5 * 2**20 + b'"', 413, "too_large"),
        (b'{"task": "double", "device": "cpu", "language": "cpp", "source": "\\ud800"}', 400, "not_utf8"),
        (b'{"nobody": [{"reads": "\\uD83D"}]}', 400, "not_utf8"),
        (b'{"\\udc00": 1}', 400, "not_utf8"),
        (b'{"task": "\\\\ud800", "device": "\\ud83d\\ude00"}', 400, "invalid"),
    ],
)
def test_hostile_bodies(as_owner: APIClient, owner: User, body: bytes, status: int, code: str) -> None:
    for client in (as_owner, with_token(owner, "submit")):
        response = client.post("/api/v1/submissions/", body, content_type="application/json")
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == (status, code)


def test_a_site_without_a_free_connection_says_when_to_come_back(
    api: APIClient, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted() -> None:
        with connection.wrap_database_errors:
            raise PoolTimeout("couldn't get a connection after 10.00 sec")

    monkeypatch.setattr("leaderboard.selectors.devices.device_statuses", exhausted)
    response = api.get("/api/v1/devices/")
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert response.json()["error"]["code"] == "busy"
