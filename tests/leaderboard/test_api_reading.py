"""Reading from the API: pages by cursor, filters, what anyone may read, the schema."""

import base64
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from leaderboard.models import Submission, Task
from tests.pages.test_pages import assert_clean

pytestmark = pytest.mark.usefixtures("fresh_throttles")

Submit = Callable[..., Submission]
Finish = Callable[..., Submission]


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


def test_pages_lead_back_as_well(as_owner: APIClient, owner: User, submit: Submit) -> None:
    for _ in range(3):
        submit(owner, mode="check")
    first = as_owner.get("/api/v1/submissions/?limit=1").json()
    second = as_owner.get(first["next"]).json()
    back = as_owner.get(second["previous"])
    assert (back.status_code, back.json()["results"]) == (200, first["results"])


@pytest.mark.parametrize("limit", ["-1", "0", "201", "9" * 5000, "two", "\uff12", "1_0", "2.0", " 2", ""])
def test_a_limit_that_is_none_is_refused(as_owner: APIClient, limit: str) -> None:
    for address in ("/api/v1/submissions/", "/api/v1/searches/"):
        refused = as_owner.get(address, {"limit": limit})
        assert (refused.status_code, refused.json()["error"]) == (
            400,
            {
                "code": "invalid",
                "message": "limit: must be a whole number from 1 to 200",
                "line": None,
                "field": "limit",
            },
        )
        assert as_owner.get(address, {"limit": "200"}).status_code == 200


@pytest.mark.parametrize("position", ["x", "\0", "0001-01-01T00:00+23:59", "2026-01-01T00:00", "2026-13-01"])
def test_a_cursor_of_ones_own_making_is_refused(as_owner: APIClient, position: str) -> None:
    made = base64.b64encode(urlencode({"p": position}).encode()).decode()
    for cursor in (made, "nonsense"):
        response = as_owner.get("/api/v1/submissions/", {"cursor": cursor})
        error = response.json()["error"]
        assert (response.status_code, error["code"], error["field"]) == (400, "invalid", "cursor")


@pytest.mark.parametrize("inside", ["o=5000", "o=01", "o=0", "r=7", "r=0", "x=1", "o=1&x=1", "o=\uff11"])
def test_a_cursor_is_read_as_a_whole(as_owner: APIClient, inside: str) -> None:
    made = base64.b64encode(inside.encode()).decode()
    given = base64.b64encode(b"o=1").decode()
    assert as_owner.get("/api/v1/submissions/", {"cursor": given}).status_code == 200
    for cursor in (made, f"{given}!", f" {given}", "!!!!", "\uff4f", ""):
        response = as_owner.get("/api/v1/submissions/", {"cursor": cursor})
        message = "cursor: is not one that a list gave; start without it"
        assert (response.status_code, response.json()["error"]["message"]) == (400, message), cursor


def test_lists_can_be_narrowed(as_owner: APIClient, owner: User, submit: Submit, finish: Finish) -> None:
    finish(submit(owner))
    submit(owner, mode="check")
    for query, number in {
        "mode=check": 1,
        "status=finished": 1,
        "verdict=passed": 1,
        "task=double": 2,
        "task=%00": 0,
        "task=dou%00ble": 0,  # no part of what was asked is left out
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


def test_budgets_of_a_device_that_cannot_be_are_none(as_owner: APIClient, device: object) -> None:
    assert len(as_owner.get("/api/v1/budget/").json()) == 1
    for name in ("%00", "cpu-te%00st"):
        assert as_owner.get(f"/api/v1/budget/?device={name}").json() == []


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


@pytest.mark.parametrize("version", ["%00", "%0d%0aX", 'x";filename=a', "2"])
def test_the_schema_writes_no_strangers_version_into_a_header(api: APIClient, db: None, version: str) -> None:
    response = api.get(f"/api/v1/schema/?version={version}")
    assert response.status_code == 200
    assert response["Content-Disposition"] == 'inline; filename="KernelHub API.json"'


def test_the_index_names_every_list_by_an_address_that_answers(api: APIClient, as_owner: APIClient) -> None:
    index = api.get("/api/v1/")
    assert index.status_code == 200
    schema = json.loads(api.get("/api/v1/schema/").content)
    lists = {path for path, found in schema["paths"].items() if "get" in found and "{" not in path}
    named = {address.removeprefix("http://testserver") for address in index.json().values()}
    assert named == lists - {"/api/v1/"} | {"/api/v1/docs/", "/api/v1/schema/"}
    for address in named:
        assert as_owner.get(address).status_code == 200, address


def test_the_schema_is_valid_and_complete(api: APIClient, db: None, tmp_path: Any) -> None:
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(tmp_path / "schema.yml"))
    schema = json.loads(api.get("/api/v1/schema/").content)
    assert "/api/v1/submissions/{submission_id}/cancel/" in schema["paths"]


def test_the_page_of_the_api_has_every_operation_under_the_sites_own_policy(api: APIClient, db: None) -> None:
    response = api.get("/api/v1/docs/")
    assert response.status_code == 200
    assert response["Content-Security-Policy"] == api.get("/").headers["Content-Security-Policy"]
    html = response.content.decode()
    assert_clean(html)
    schema = json.loads(api.get("/api/v1/schema/").content)
    names = [
        operation["operationId"]
        for operations in schema["paths"].values()
        for operation in operations.values()
    ]
    assert len(names) > 30
    assert all(f'<section class="block operation" id="{name}"' in html for name in names)
    assert "one of check, test, benchmark, ranked, profile" in html, "choices are not spelled out"
