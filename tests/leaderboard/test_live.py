"""Sockets: who may listen, the first frame, frames of changes, and what happens when Redis is away."""

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.routing import URLRouter
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.sessions.models import Session
from django.test import Client

from kernelhub.asgi import application as site
from leaderboard.live import publish
from leaderboard.live.coalesce import Coalescer, Timer
from leaderboard.live.routing import websocket_urlpatterns
from leaderboard.models import Submission, Task
from leaderboard.services import submissions
from runners.models import Device, Evaluation

from .sockets import Socket

Submit = Callable[..., Submission]
Finish = Callable[..., Submission]
Viewer = User | AnonymousUser

pytestmark = pytest.mark.django_db(transaction=True)
APPLICATION = URLRouter(websocket_urlpatterns)


async def opened(path: str, viewer: Viewer) -> Socket:
    return await Socket(APPLICATION, path, viewer).open()


@pytest.fixture
def private(submit: Submit, owner: User) -> Submission:
    return submit(owner)


async def test_owner_and_staff_hear_the_state_at_once(private: Submission, owner: User, staff: User) -> None:
    for viewer in (owner, staff):
        page = await opened(f"/ws/submissions/{private.pk}/", viewer)
        frame = await page.frame()
        assert frame == {"seq": 0, "status": "queued", "stage": "", "verdict": ""}
        await page.leave()


async def test_others_hear_nothing_and_cannot_tell_whether_it_exists(
    private: Submission, outsider: User
) -> None:
    for viewer in (outsider, AnonymousUser()):
        for submission_id in (private.pk, uuid.uuid4()):
            page = await opened(f"/ws/submissions/{submission_id}/", viewer)
            assert await page.close_code() == 4404


async def test_other_addresses_are_closed(owner: User) -> None:
    for path in ("/ws/", "/ws/submissions/x/", "/ws/boards/no/no/", "/elsewhere/"):
        page = await opened(path, owner)
        assert await page.close_code() == 4404


async def test_a_run_is_heard_to_its_verdict_and_then_on_the_board(
    private: Submission, owner: User, task: Task, device: Device, finish: Finish
) -> None:
    page = await opened(f"/ws/submissions/{private.pk}/", owner)
    board = await opened(f"/ws/boards/{task.slug}/{device.slug}/", AnonymousUser())
    assert await board.frame() == {"seq": 0}
    first = await page.frame()
    await sync_to_async(finish)(private)
    frames = [first]
    while frames[-1]["status"] != "finished":
        frames.append(await page.frame())
    assert [frame["seq"] for frame in frames] == sorted(frame["seq"] for frame in frames)
    assert frames[-1]["verdict"] == "passed"
    # A new entry that is being audited, then a ranked one.
    assert [await board.frame(), await board.frame()] == [{"seq": 1}, {"seq": 2}]
    await page.leave()
    await board.leave()


async def test_a_page_that_comes_late_misses_nothing(
    private: Submission, owner: User, finish: Finish
) -> None:
    await sync_to_async(finish)(private)
    page = await opened(f"/ws/submissions/{private.pk}/", owner)
    assert (await page.frame())["verdict"] == "passed"
    await page.leave()


async def test_listeners_leave_when_a_submission_becomes_private(
    private: Submission, owner: User, outsider: User
) -> None:
    show = sync_to_async(submissions.set_visibility)
    await show(user=owner, submission=private, is_public=True)
    page = await opened(f"/ws/submissions/{private.pk}/", outsider)
    await page.frame()
    await show(user=owner, submission=private, is_public=False)
    assert await page.close_code() == 4404


async def test_what_a_browser_sends_is_ignored(private: Submission, owner: User) -> None:
    page = await opened(f"/ws/submissions/{private.pk}/", owner)
    await page.frame()
    for text in ("{", '{"type": "frame"}', "x" * 10_000):
        await page.say(text)
    await page.say(data=b"\xff")
    assert await page.hears_nothing()
    await page.leave()


def test_a_run_ends_well_when_nobody_can_be_told(
    private: Submission, finish: Finish, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        async def group_send(self, *_: object) -> None:
            raise ConnectionError("no Redis")

    monkeypatch.setattr(publish, "get_channel_layer", Broken)
    assert finish(private).evaluation.verdict == "passed"
    assert "could not publish" in caplog.text


def test_evaluations_without_a_submission_are_nobodys(private: Submission) -> None:
    publish.publish_evaluation(Evaluation(pk=uuid.uuid4()))


def browser_headers(user: User, origin: str) -> dict[str, str]:
    client = Client()
    client.force_login(user)
    cookie = f"sessionid={client.cookies['sessionid'].value}"
    return {"host": "localhost", "origin": origin, "cookie": cookie}


async def test_a_browser_listens_with_its_session(private: Submission, owner: User, outsider: User) -> None:
    path = f"/ws/submissions/{private.pk}/"
    headers = await sync_to_async(browser_headers)(owner, "http://localhost")
    page = await Socket(site, path, headers=headers).open()
    assert (await page.frame())["status"] == "queued"
    await page.leave()
    headers = await sync_to_async(browser_headers)(outsider, "http://localhost")
    page = await Socket(site, path, headers=headers).open()
    assert await page.close_code() == 4404


async def test_a_session_that_was_ended_is_forecast_nothing_more(owner: User) -> None:
    headers = await sync_to_async(browser_headers)(owner, "http://localhost")
    page = await Socket(site, "/ws/forecast/", headers=headers).open()
    await sync_to_async(Session.objects.all().delete)()
    typed = {"number": 1, "task": "double", "device": "cpu-test", "language": "python", "source": "x"}
    await page.say(json.dumps(typed))
    assert await page.close_code() == 4401


async def test_another_site_cannot_listen_with_a_visitors_session(private: Submission, owner: User) -> None:
    headers = await sync_to_async(browser_headers)(owner, "http://evil.example")
    assert await Socket(site, f"/ws/submissions/{private.pk}/", headers=headers).is_denied()


class FakeTime:
    """A clock that is set by hand, and timers that run when it is."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[tuple[float, Callable[[], None]]] = []

    def clock(self) -> float:
        return self.now

    def later(self, seconds: float, function: Callable[[], None]) -> Timer:
        entry = (self.now + seconds, function)
        self.timers.append(entry)
        timers = self.timers

        class Handle:
            def cancel(self) -> None:
                timers.remove(entry)

        return Handle()

    def go_to(self, now: float) -> None:
        self.now = now
        due = [entry for entry in self.timers if entry[0] <= now]
        for entry in due:
            self.timers.remove(entry)
            entry[1]()


@pytest.fixture
def wire() -> tuple[FakeTime, Callable[..., None], list[Any]]:
    """(time, offer(value, how="offer"), sent)"""
    time, sent = FakeTime(), []
    coalescer = Coalescer(interval=0.25, clock=time.clock, later=time.later)

    def offer(value: Any, *, key: str = "a", how: str = "offer") -> None:
        getattr(coalescer, how)(key, lambda: sent.append(value))

    return time, offer, sent


def test_the_first_frame_goes_at_once_and_the_newest_of_a_burst_after_the_interval(wire: Any) -> None:
    time, offer, sent = wire
    for value in range(10):
        offer(value)
    assert sent == [0]
    time.go_to(0.25)
    assert sent == [0, 9]
    time.go_to(10)
    assert sent == [0, 9]


def test_at_most_four_frames_a_second(wire: Any) -> None:
    time, offer, sent = wire
    for step in range(1000):
        time.go_to(step / 1000)
        offer(step)
    time.go_to(2)
    assert len(sent) <= 5
    assert sent[-1] == 999


def test_the_final_frame_waits_for_nothing_and_is_the_last(wire: Any) -> None:
    time, offer, sent = wire
    offer(1)
    offer(2)
    offer(3, how="final")
    assert sent == [1, 3]
    time.go_to(10)
    assert sent == [1, 3]


def test_an_urgent_frame_waits_for_nothing_and_takes_the_place_of_what_was_held_back(wire: Any) -> None:
    time, offer, sent = wire
    offer(1)
    offer(2)
    offer(3, how="urgent")
    assert sent == [1, 3]
    offer(4)
    time.go_to(0.2)
    assert sent == [1, 3]
    time.go_to(10)
    assert sent == [1, 3, 4]


def test_the_first_test_result_is_told_at_once(private: Submission, monkeypatch: pytest.MonkeyPatch) -> None:
    time, told = FakeTime(), []
    monkeypatch.setattr(publish, "_frames", Coalescer(interval=0.25, clock=time.clock, later=time.later))
    monkeypatch.setattr(publish, "_send", lambda _, message: told.append(message["frame"]["seq"]))
    evaluation = private.evaluation
    for seq, tests in enumerate((0, 0, 1, 1, 1), start=1):
        evaluation.seq, evaluation.progress = seq, {"tests": [{}] * tests}
        publish.publish_evaluation(evaluation)
    assert told == [1, 3]
    time.go_to(1)
    assert told == [1, 3, 5]


def test_submissions_do_not_hold_each_other_back(wire: Any) -> None:
    _, offer, sent = wire
    offer(1, key="a")
    offer(2, key="b")
    assert sent == [1, 2]
