"""The API as a program meets it: submitting, reading, errors, tokens, pages by cursor."""

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.test import Client
from psycopg_pool import PoolTimeout
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from leaderboard.api.throttles import AnonymousRate
from leaderboard.models import ApiToken, Submission, Task
from leaderboard.services import tokens
from runners.contract.vocabulary import Verdict

from .conftest import CPP, PYTHON

Submit = Callable[..., Submission]
Finish = Callable[..., Submission]


@pytest.fixture(autouse=True)
def _fresh_throttles() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def api() -> APIClient:
    return APIClient()


@pytest.fixture
def as_owner(owner: User) -> APIClient:
    client = APIClient()
    client.force_login(owner)
    return client


def with_token(user: User, *scopes: str) -> APIClient:
    _, text = tokens.create(user=user, name="mine", scopes=scopes)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    return client


def entry(**changes: Any) -> dict[str, Any]:
    return {"task": "double", "device": "cpu-test", "language": "python", "source": PYTHON} | changes


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


def test_lists_come_in_pages_by_cursor(as_owner: APIClient, owner: User, submit: Submit) -> None:
    made = [str(submit(owner, mode="check").pk) for _ in range(5)]
    seen: list[str] = []
    address: str | None = "/api/v1/submissions/?limit=2"
    while address:
        page = as_owner.get(address).json()
        assert len(page["results"]) <= 2
        seen += [item["id"] for item in page["results"]]
        address = page["next"]
    assert seen == made[::-1]


@pytest.mark.parametrize("position", ["x", "\0", "0001-01-01T00:00+23:59", "2026-01-01T00:00", "2026-13-01"])
def test_a_cursor_of_ones_own_making_is_refused(as_owner: APIClient, position: str) -> None:
    made = base64.b64encode(urlencode({"p": position}).encode()).decode()
    for cursor in (made, "nonsense"):
        response = as_owner.get("/api/v1/submissions/", {"cursor": cursor})
        error = response.json()["error"]
        assert (response.status_code, error["code"], error["field"]) == (400, "invalid", "cursor")


def test_lists_can_be_narrowed(as_owner: APIClient, owner: User, submit: Submit, finish: Finish) -> None:
    finish(submit(owner))
    submit(owner, mode="check")
    for query, number in {
        "mode=check": 1,
        "status=finished": 1,
        "verdict=passed": 1,
        "task=double": 2,
        "task=%00": 0,
        "device=no": 0,
    }.items():
        assert len(as_owner.get(f"/api/v1/submissions/?{query}").json()["results"]) == number, query


def test_query_counts_do_not_grow(
    as_owner: APIClient,
    owner: User,
    submit: Submit,
    finish: Finish,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for _ in range(3):
        finish(submit(owner))
    with django_assert_num_queries(3):  # session, user, page
        as_owner.get("/api/v1/submissions/")
    with django_assert_num_queries(6):  # session, user, tasks, versions, leaders, entries
        as_owner.get("/api/v1/tasks/")
    with django_assert_num_queries(7):  # session, user, task, version, device, and the board's two
        as_owner.get("/api/v1/tasks/double/board/?device=cpu-test")
    address = f"/api/v1/submissions/{Submission.objects.values_list('pk', flat=True)[0]}/"
    with django_assert_num_queries(3):  # session, user, submission
        as_owner.get(address)


def test_what_anyone_may_read(api: APIClient, task: Task, device: object, gpu: object) -> None:
    detail = api.get("/api/v1/tasks/double/").json()
    assert detail["entry_points"]["cpp"].startswith('extern "C" void kernel(const float* x')
    assert detail["entry_points"]["python"] == "def kernel(x):  # returns y, or takes out and writes into it"
    assert detail["tolerances"]["float32"] == {"atol": 0.0, "rtol": 1e-6}
    assert [version["number"] for version in detail["versions"]] == [1]
    assert [item["slug"] for item in api.get("/api/v1/tasks/").json()] == ["double"]
    assert [item["slug"] for item in api.get("/api/v1/devices/").json()] == ["cpu-test", "gpu-test"]
    options = api.get("/api/v1/tasks/double/options/").json()
    states = {choice["value"]: choice["enabled"] for choice in options["devices"] + options["languages"]}
    assert states == {"cpu-test": True, "gpu-test": False, "python": True, "cpp": True, "cuda": False}
    assert all(
        choice["reason"] for choice in options["devices"] + options["languages"] if not choice["enabled"]
    )


def test_recent_records_are_told_as_on_the_home_page(
    api: APIClient, as_owner: APIClient, owner: User, submit: Submit, finish: Finish
) -> None:
    for seconds in (3e-3, 4e-3, 2e-3):
        finish(submit(owner), seconds)
    for client, visible in ((api, False), (as_owner, True)):
        records = client.get("/api/v1/records/").json()
        steps = [(item["seconds"], item["previous_seconds"]) for item in records]
        assert steps == [(2e-3, 3e-3), (3e-3, None)]
        assert (records[0]["task"], records[0]["username"]) == ("double", "owner")
        assert bool(records[0]["submission"]) is visible


def test_budgets_are_told(as_owner: APIClient, owner: User, submit: Submit) -> None:
    submit(owner)
    (budget,) = as_owner.get("/api/v1/budget/?device=cpu-test").json()
    assert (budget["allowance"], budget["reserved"], budget["left"]) == (1800, 360, 1440)


def test_spent_budgets_grey_the_modes(as_owner: APIClient, task: Task, device: object, settings: Any) -> None:
    settings.DEVICE_SECONDS_PER_DAY = 200
    options = as_owner.get("/api/v1/tasks/double/options/").json()
    states = {choice["value"]: choice["enabled"] for choice in options["modes"]}
    assert states == {"check": True, "test": True, "benchmark": False, "ranked": False, "profile": False}
    assert all(
        "refills at 00:00 UTC" in choice["reason"] for choice in options["modes"] if not choice["enabled"]
    )


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


@pytest.mark.parametrize("version", ["%00", "%0d%0aX", 'x";filename=a', "2"])
def test_the_schema_writes_no_strangers_version_into_a_header(api: APIClient, db: None, version: str) -> None:
    response = api.get(f"/api/v1/schema/?version={version}")
    assert response.status_code == 200
    assert response["Content-Disposition"] == 'inline; filename="KernelHub API.json"'


def test_the_schema_is_valid_and_complete(api: APIClient, db: None, tmp_path: Any) -> None:
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(tmp_path / "schema.yml"))
    schema = json.loads(api.get("/api/v1/schema/").content)
    assert "/api/v1/submissions/{submission_id}/cancel/" in schema["paths"]


def test_the_page_of_the_schema_allows_no_inline_script(api: APIClient, settings: Any) -> None:
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}  # nothing was collected
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
    response = api.get("/api/v1/docs/")
    assert response.status_code == 200
    assert "script-src 'self'" in response["Content-Security-Policy"].split("; ")
    assert b"<script>" not in response.content
