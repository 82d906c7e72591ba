"""Who sees a search and who steers it: every route and the socket, for every role."""

from collections.abc import Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.routing import URLRouter
from django.contrib.auth.models import AnonymousUser, User
from django.test import Client

from leaderboard.live.consumers import CLOSE_NOT_FOUND
from leaderboard.live.routing import websocket_urlpatterns
from leaderboard.models import Submission
from leaderboard.search.models import RunStatus, SearchRun
from leaderboard.search.services import entering, runs
from tests.leaderboard.sockets import Socket
from tests.pages.test_pages import assert_clean
from tests.search_pages.conftest import ROLES, Start

ClientOf = Callable[[str], Client]
READS = (
    "", "live/", "table/", "record/", "data/", "candidates.csv", "candidates/0/", "candidates/0/source/",
    "lineage/", "lineage/0/",
)  # fmt: skip
SOCKETS = URLRouter(websocket_urlpatterns)
MORE = {"measurements": "5", "device_seconds": "10", "minutes": "1"}
WRITES = ("pause/", "resume/", "extend/", "stop/", "visibility/", "enter/", "cancel/")


@pytest.mark.parametrize("role", ROLES)
def test_a_private_search_is_there_for_its_owner_and_staff_only(
    ended: SearchRun, client_of: ClientOf, role: str
) -> None:
    client, sees = client_of(role), role in ("owner", "staff")
    for tail in READS:
        answer = client.get(f"/searches/{ended.pk}/{tail}")
        assert answer.status_code == (200 if sees else 404), tail
        if answer.headers["Content-Type"].startswith("text/html"):
            assert_clean(answer.content.decode())
    assert (str(ended.pk) in client.get("/searches/").content.decode()) == sees


@pytest.mark.parametrize("role", ["anonymous", "outsider"])
def test_a_public_search_is_everybodys_to_read_and_nobodys_to_steer(
    start: Start, owner: User, client_of: ClientOf, role: str
) -> None:
    run, client = start(), client_of(role)
    runs.set_visibility(run=run, user=owner, is_public=True)
    page = client.get(f"/searches/{run.pk}/").content.decode()
    assert "Make private" not in page
    assert f"/searches/{run.pk}/pause/" not in page
    for tail in WRITES:
        answer = client.post(f"/searches/{run.pk}/{tail}", MORE)
        assert answer.status_code == (302 if role == "anonymous" else 403), tail
        if role == "anonymous":
            assert answer["Location"].startswith("/accounts/login/")
    run.refresh_from_db()
    assert (run.status, run.is_public, run.measurements_limit) == (RunStatus.RUNNING, True, 10)


@pytest.mark.parametrize("role", ROLES)
def test_steering_a_private_search(start: Start, client_of: ClientOf, role: str) -> None:
    run, client = start(), client_of(role)
    wanted = {"anonymous": 302, "outsider": 404}.get(role, 302)
    for tail in WRITES:
        assert client.get(f"/searches/{run.pk}/{tail}").status_code in (405, 302), tail
        assert client.post(f"/searches/{run.pk}/{tail}", MORE).status_code == wanted, tail
    run.refresh_from_db()
    steered = role in ("owner", "staff")
    assert run.status == (RunStatus.FINISHED if steered else RunStatus.RUNNING)
    assert run.measurements_limit == (15 if steered else 10)


def test_an_entry_leads_to_its_search_for_those_who_may_see_it(
    ended: SearchRun, owner: User, client_of: ClientOf
) -> None:
    submission = entering.enter(run=ended, user=owner)
    Submission.objects.filter(pk=submission.pk).update(is_public=True)
    for role in ROLES:
        html = client_of(role).get(f"/submissions/{submission.pk}/").content.decode()
        assert "machine-written" in html
        assert (f"/searches/{ended.pk}/" in html) == (role in ("owner", "staff")), role


def test_a_locked_owner_sees_nothing_of_his_own(ended: SearchRun, owner: User) -> None:
    client = Client()
    client.force_login(owner)
    User.objects.filter(pk=owner.pk).update(is_active=False)
    assert client.get(f"/searches/{ended.pk}/").status_code == 404


@pytest.mark.django_db(transaction=True)
async def test_the_socket_speaks_to_those_who_may_see_and_hangs_up_when_that_ends(
    start: Start, owner: User, outsider: User
) -> None:
    run = await database_sync_to_async(start)()
    path = f"/ws/searches/{run.pk}/"
    for stranger in (outsider, AnonymousUser()):
        assert await (await open_as(stranger, path)).close_code() == CLOSE_NOT_FOUND
    mine = await open_as(owner, path)
    assert await mine.frame() == {"seq": 1, "status": "running"}

    await database_sync_to_async(runs.set_visibility)(run=run, user=owner, is_public=True)
    assert (await mine.frame())["seq"] == 1  # asked again whether it may listen
    watching = await open_as(outsider, path)
    assert await watching.frame() == {"seq": 1, "status": "running"}
    await database_sync_to_async(runs.pause)(run=run, user=owner)
    for socket in (mine, watching):
        assert await socket.frame() == {"seq": 2, "status": "paused"}
    await database_sync_to_async(runs.set_visibility)(run=run, user=owner, is_public=False)
    assert await watching.close_code() == CLOSE_NOT_FOUND
    await mine.leave()


async def open_as(viewer: Any, path: str) -> Socket:
    return await Socket(SOCKETS, path, viewer).open()
