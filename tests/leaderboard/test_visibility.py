"""Who may see a submission: every route and role. A source never leaves for those not allowed."""

import base64
import gzip
import uuid
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.test import Client

from leaderboard.models import Submission
from leaderboard.selectors import submissions
from leaderboard.services import submissions as services
from leaderboard.services import tokens

SECRET = "def kernel(x):\n    return x * 2  # s3cret-marker\n"
READS = ("", "source/", "result/", "trace/")


@dataclass
class Cast:
    owner: User
    outsider: User
    staff: User
    locked: User

    def client(self, role: str) -> Client:
        client = Client()
        if role != "anonymous":
            client.force_login(getattr(self, role))
        return client


@pytest.fixture
def cast(owner: User, outsider: User, staff: User) -> Cast:
    locked = User.objects.create_user("locked", password="locked-password")
    return Cast(owner, outsider, staff, locked)


@pytest.fixture
def private(submit: Callable[..., Submission], finish: Callable[..., Submission], owner: User) -> Submission:
    trace = base64.b64encode(gzip.compress(b"{}")).decode()
    return finish(submit(owner, source=SECRET), trace=trace)


def paths_of(submission: Submission) -> list[str]:
    api = [f"/api/v1/submissions/{submission.pk}/{tail}" for tail in READS]
    pages = [f"/submissions/{submission.pk}/{tail}" for tail in ("", "live/", "source/", "trace/")]
    return api + pages


@pytest.mark.parametrize("role", ["owner", "staff"])
def test_owner_and_staff_read_everything(cast: Cast, private: Submission, role: str) -> None:
    client = cast.client(role)
    for path in paths_of(private):
        assert client.get(path).status_code == 200, path
    assert "s3cret-marker" in client.get(f"/api/v1/submissions/{private.pk}/source/").json()["source"]


def test_a_trace_is_a_file_to_be_saved_and_no_part_of_the_result(cast: Cast, private: Submission) -> None:
    client = cast.client("owner")
    for path in (f"/submissions/{private.pk}/trace/", f"/api/v1/submissions/{private.pk}/trace/"):
        response = client.get(path)
        assert gzip.decompress(response.content) == b"{}"
        assert response["Content-Type"] == "application/gzip"
        assert response["Content-Disposition"].startswith('attachment; filename="double-')
        assert response["X-Content-Type-Options"] == "nosniff"
    assert "trace" not in client.get(f"/api/v1/submissions/{private.pk}/result/").json()


@pytest.mark.parametrize("role", ["outsider", "anonymous"])
def test_others_find_nothing(cast: Cast, private: Submission, role: str) -> None:
    client = cast.client(role)
    for path in paths_of(private):
        response = client.get(path)
        assert response.status_code == 404, path
        assert b"s3cret-marker" not in response.content
    missing = client.get(f"/api/v1/submissions/{uuid.uuid4()}/")
    hidden = client.get(f"/api/v1/submissions/{private.pk}/")
    assert missing.content == hidden.content  # whether it exists is not told either


@pytest.mark.parametrize("role", ["outsider", "anonymous"])
def test_what_all_may_read_holds_no_source(cast: Cast, private: Submission, role: str) -> None:
    client = cast.client(role)
    for path in (
        "/",
        "/tasks/double/",
        "/tasks/double/board/?device=cpu-test",
        "/users/owner/",
        "/api/v1/tasks/",
        "/api/v1/tasks/double/",
        "/api/v1/tasks/double/board/?device=cpu-test",
        "/api/v1/tasks/double/history/?device=cpu-test",
        "/api/v1/users/owner/",
        "/api/v1/devices/",
    ):
        response = client.get(path)
        assert response.status_code == 200, path
        assert b"s3cret-marker" not in response.content, path
        assert str(private.pk).encode() not in response.content, path


@pytest.mark.parametrize("role", ["outsider", "anonymous"])
def test_others_change_nothing(cast: Cast, private: Submission, role: str) -> None:
    client = cast.client(role)
    path = f"/api/v1/submissions/{private.pk}/"
    assert client.post(f"{path}cancel/").status_code in (401, 404)
    changed = client.patch(path, {"is_public": True}, content_type="application/json")
    assert changed.status_code in (401, 404)
    private.refresh_from_db()
    assert not private.is_public


def test_public_submissions_are_read_by_all_and_changed_by_their_owner(
    cast: Cast, private: Submission
) -> None:
    services.set_visibility(user=cast.owner, submission=private, is_public=True)
    for role in ("outsider", "anonymous"):
        for path in paths_of(private):
            assert cast.client(role).get(path).status_code == 200, (role, path)
    path = f"/api/v1/submissions/{private.pk}/"
    outsider = cast.client("outsider")
    assert outsider.patch(path, {"is_public": False}, content_type="application/json").status_code == 403
    assert outsider.post(f"{path}cancel/").status_code == 403
    changed = cast.client("owner").patch(path, {"is_public": False}, content_type="application/json")
    assert changed.json()["is_public"] is False
    assert outsider.get(path).status_code == 404


@pytest.mark.parametrize(
    ("role", "may"), [("owner", True), ("staff", True), ("outsider", False), ("anonymous", False)]
)
def test_the_page_offers_changes_to_those_who_may_make_them(
    cast: Cast, submit: Callable[..., Submission], role: str, may: bool
) -> None:
    waiting = submit(cast.owner, is_public=True)
    client, page = cast.client(role), f"/submissions/{waiting.pk}/"
    html = client.get(page).content.decode()
    for form, button in (("visibility", "Make private"), ("cancel", "Cancel")):
        assert (f'action="{page}{form}/"' in html, f">{button}</button>" in html) == (may, may)
    client.post(f"{page}visibility/")  # what the button sends
    waiting.refresh_from_db()
    assert waiting.is_public == (not may)


@pytest.mark.parametrize("role", ["owner", "staff"])
def test_nobody_is_offered_to_hide_a_baseline(
    cast: Cast, submit: Callable[..., Submission], role: str
) -> None:
    baseline = submit(cast.owner, is_public=True)
    Submission.objects.filter(pk=baseline.pk).update(user=None, baseline="eager")
    assert "Make private" not in cast.client(role).get(f"/submissions/{baseline.pk}/").content.decode()


def test_who_opens_the_address_of_the_run_alone_gets_the_page(cast: Cast, private: Submission) -> None:
    page = f"/submissions/{private.pk}/"
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    opened = cast.client("owner").get(f"{page}live/", headers=browser)
    assert (opened.status_code, opened["Location"]) == (302, page)
    part = cast.client("owner").get(
        f"{page}live/", headers={"Accept": "text/html, */*", "HX-Request": "true"}
    )
    assert (part.status_code, b"<html" in part.content) == (200, False)
    for answer in (opened, part):  # no cache takes one for the other
        assert {"Accept", "HX-Request"} <= set(answer["Vary"].split(", "))


def test_a_locked_owner_sees_no_more_than_a_visitor(cast: Cast, private: Submission) -> None:
    _, text = tokens.create(user=cast.owner, name="mine", scopes=["read"])
    cast.owner.is_active = False
    cast.owner.save()
    with pytest.raises(Submission.DoesNotExist):
        submissions.get_visible(private.pk, cast.owner)
    path = f"/api/v1/submissions/{private.pk}/source/"
    assert Client().get(path, headers={"Authorization": f"Bearer {text}"}).status_code == 401
    assert Client().get("/api/v1/users/owner/").status_code == 404


def test_lists_hold_what_the_viewer_may_see(
    cast: Cast, private: Submission, submit: Callable[..., Submission]
) -> None:
    public = submit(cast.owner, is_public=True)
    for viewer, number in ((cast.owner, 2), (cast.staff, 2), (cast.outsider, 1), (AnonymousUser(), 1)):
        found = list(submissions.of_user(cast.owner, viewer))
        assert len(found) == number
        assert public in found


@pytest.mark.parametrize("bad", ["", "x", "\0", "00000000-0000-0000-0000-00000000000g"])
def test_an_id_that_is_none(db: None, bad: str) -> None:
    with pytest.raises(Submission.DoesNotExist):
        submissions.get_visible(bad, None)
