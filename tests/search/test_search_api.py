"""Searches as a program meets them: starting, following by number, steering, and who may."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from rest_framework.test import APIClient

from leaderboard.models import TaskVersion
from leaderboard.search.models import SearchCandidate, SearchEvent, SearchRun
from leaderboard.search.services.stepping import Stepper
from leaderboard.services import tokens
from runners.models import Device, Runner
from tests.search.conftest import measure_all

Start = Callable[..., SearchRun]


@pytest.fixture(autouse=True)
def _fresh_throttles() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def client(user: User | None = None) -> APIClient:
    found = APIClient()
    if user is not None:
        found.force_login(user)
    return found


def wanted(**changes: Any) -> dict[str, Any]:
    return {"task": "softmax", "device": "cpu-test", "measurements": 8, "slots": 3, "multiple": 4} | changes


def test_a_search_is_started_and_followed_by_number(
    owner: User, version: TaskVersion, device: Device, runner: Runner, settings: Any
) -> None:
    settings.DEVICE_SECONDS_PER_DAY = 10_000
    api = client(owner)
    created = api.post("/api/v1/searches/", wanted(device_seconds=5000, enters_best=False), format="json")
    assert created.status_code == 201, created.json()
    address = created["Location"]
    assert address == f"/api/v1/searches/{created.json()['id']}/"
    stepper = Stepper(SearchRun.objects.get())
    seq, known = 0, {}
    while stepper.step():
        measure_all(runner, device)
        for row in api.get(f"{address}candidates/?since={seq}").json():
            known[row["number"]], seq, number = row, row["seq"], row["number"]
        if number:  # a cursor may stand within an event
            rest = api.get(f"{address}candidates/?since={seq}&after={number - 1}").json()
            assert rest == [known[number]]
    read = api.get(address).json()
    assert (read["status"], read["stop_reason"], read["measurements_spent"]) == (
        "finished",
        "measurements",
        8,
    )
    assert len(known) == read["considered"]
    times = [row["seconds"] for row in known.values() if row["seconds"]]
    assert min(times) == read["best_seconds"]
    events = api.get(f"{address}events/").json()
    assert [event["seq"] for event in events] == list(range(1, read["seq"] + 1))
    best = next(row for row in known.values() if row["seconds"] == read["best_seconds"])
    detail = api.get(f"{address}candidates/{best['number']}/").json()
    assert "kernel" in detail["source"]
    assert detail["verdict"] == "passed"


def test_steering_a_search(start: Start, owner: User) -> None:
    address, api = f"/api/v1/searches/{start().pk}/", client(owner)
    assert api.post(f"{address}pause/").json() == {"changed": True}
    again = api.post(f"{address}pause/").json()
    assert again == {"changed": False, "reason": "The search was not running any more."}
    assert api.post(f"{address}resume/").json() == {"changed": True}
    more = {"measurements": 5, "device_seconds": 10, "wall_seconds": 60}
    assert api.post(f"{address}extend/", more, format="json").json() == {"changed": True}
    assert api.get(address).json()["measurements_limit"] == 15
    nothing = api.post(f"{address}extend/", {"measurements": 0}, format="json")
    assert (nothing.status_code, nothing.json()["error"]["code"]) == (400, "limits_wrong")
    assert api.post(f"{address}stop/", {"candidates": [3]}, format="json").json() == {"stopped": 0}
    assert api.post(f"{address}cancel/").json() == {"changed": True}
    again = api.post(f"{address}cancel/").json()
    assert again == {"changed": False, "reason": "The search had ended before."}
    over = api.post(f"{address}extend/", more, format="json")
    assert (over.status_code, over.json()["error"]["code"]) == (409, "run_over")


def test_staff_may_steer_and_what_stays_says_who_did(
    start: Start, owner: User, outsider: User, runner: Runner, device: Device
) -> None:
    staff = User.objects.create_user("staff", is_staff=True)
    for user, who in ((owner, "its owner"), (staff, "staff")):
        run = start()
        address, api = f"/api/v1/searches/{run.pk}/", client(user)
        assert api.patch(address, {"is_public": True}, format="json").json()["is_public"] is True
        refused = client(outsider).patch(address, {"is_public": False}, format="json")
        assert (refused.status_code, refused.json()["error"]["message"]) == (
            403,
            "Only its owner and staff may change a search.",
        )
        assert api.post(f"{address}pause/").json() == {"changed": True}
        assert SearchRun.objects.get(pk=run.pk).stop_message == f"Paused by {who}."
        assert api.post(f"{address}resume/").json() == {"changed": True}
        stepper = Stepper(run)
        while not run.candidates.filter(status=SearchCandidate.Status.WAITING).exists():
            assert stepper.step()
            measure_all(runner, device)
        waiting = run.candidates.filter(status=SearchCandidate.Status.WAITING).first()
        assert waiting is not None
        assert api.post(f"{address}stop/", {"candidates": [waiting.number]}, format="json").json() == {
            "stopped": 1
        }
        dropped = run.events.get(kind=SearchEvent.Kind.DROPPED)
        assert dropped.document["reason"] == f"Stopped by {who}."
        assert api.post(f"{address}cancel/").json() == {"changed": True}
        assert SearchRun.objects.get(pk=run.pk).stop_message == f"Cancelled by {who}."


def test_who_may_see_and_steer(start: Start, owner: User, outsider: User) -> None:
    run = start()
    address = f"/api/v1/searches/{run.pk}/"
    for viewer in (None, outsider):
        assert client(viewer).get(address).status_code == 404
        assert client(viewer).get("/api/v1/searches/").json()["results"] == []
    assert client(outsider).post(f"{address}cancel/").status_code == 404
    shown = client(owner).patch(address, {"is_public": True}, format="json")
    assert shown.json()["is_public"] is True
    for viewer in (None, outsider):
        assert client(viewer).get(f"{address}events/").status_code == 200
        assert len(client(viewer).get("/api/v1/searches/?task=softmax").json()["results"]) == 1
    assert client(outsider).post(f"{address}cancel/").status_code == 403
    assert client(outsider).patch(address, {"is_public": False}, format="json").status_code == 403
    assert client().post(f"{address}cancel/").status_code in (401, 403)
    assert client().post("/api/v1/searches/", wanted(), format="json").status_code in (401, 403)
    _, text = tokens.create(user=owner, name="reader", scopes=["read"])
    reader = APIClient()
    reader.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    assert reader.get(address).status_code == 200
    assert reader.post(f"{address}cancel/").status_code == 403


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"task": "no-such"}, "task_unknown"),
        ({"task": "\0"}, "invalid"),
        ({"language": "cuda"}, "no_template"),
        ({"measurements": 0}, "limits_wrong"),
        ({"policy": "clairvoyant"}, "invalid"),
        ({"slots": 0}, "invalid"),
        ({"multiple": 10**9}, "invalid"),
    ],
)
def test_bad_requests_get_one_sentence(
    owner: User, version: TaskVersion, device: Device, changes: dict[str, Any], code: str
) -> None:
    refused = client(owner).post("/api/v1/searches/", wanted(**changes), format="json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, code)
    assert not SearchRun.objects.exists()


@pytest.mark.parametrize("value", [True, "\uff11\uff12", "1_0", "nan", [], "twelve"])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("measurements", "must be a whole number"),
        ("tokens", "must be a whole number"),
        ("seed", "must be a whole number"),
        ("slots", "must be a whole number"),
        ("multiple", "must be a whole number"),
        ("device_seconds", "must be a number"),
        ("wall_seconds", "must be a number"),
        ("money", "must be a number"),
    ],
)
def test_what_is_no_number_is_named(
    owner: User, version: TaskVersion, device: Device, name: str, said: str, value: object
) -> None:
    refused = client(owner).post("/api/v1/searches/", wanted(**{name: value}), format="json")
    error = refused.json()["error"]
    assert (refused.status_code, error["field"], error["message"]) == (400, name, f"{name}: {said}")
    assert not SearchRun.objects.exists()


def test_numbers_as_text_are_numbers(start: Start, owner: User) -> None:
    run = start()
    before = run.measurements_limit
    more = {"measurements": "3", "device_seconds": "1.5"}
    assert client(owner).post(f"/api/v1/searches/{run.pk}/extend/", more, format="json").status_code == 200
    run.refresh_from_db()
    assert run.measurements_limit == before + 3


def test_of_a_list_the_field_is_named(start: Start, owner: User) -> None:
    refused = client(owner).post(
        f"/api/v1/searches/{start().pk}/stop/", {"candidates": [1, True]}, format="json"
    )
    error = refused.json()["error"]
    assert (error["field"], error["message"]) == ("candidates", "candidates: must be a whole number")


def test_bad_cursors_and_numbers(start: Start, owner: User) -> None:
    address, api = f"/api/v1/searches/{start().pk}/", client(owner)
    for cursor in ("x", "-9", "1e3", "9" * 40, "\uff11", ""):
        for place, name in (("events", "since"), ("candidates", "since"), ("candidates", "after")):
            refused = api.get(f"{address}{place}/", {name: cursor})
            assert refused.status_code == 400
            assert refused.json()["error"]["message"] == f"{name}: must be a whole number, not below 0"
    for place, name, takes in (
        ("events", "after", "since"),
        ("events", "limit", "since"),
        ("candidates", "sinse", "since and after"),
    ):
        refused = api.get(f"{address}{place}/", {name: "1"})
        message = f"{name}: is no parameter here; this list takes {takes}"
        assert (refused.status_code, refused.json()["error"]["message"]) == (400, message)
    assert api.get(f"{address}candidates/7/").status_code == 404
    assert api.get(f"{address}candidates/{'9' * 30}/").status_code == 404
