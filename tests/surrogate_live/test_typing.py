"""``ws/forecast/``: who may ask, what is refused, and that a newer text takes the place of an older one."""

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import dramatiq
import pytest
from asgiref.sync import sync_to_async
from channels.routing import URLRouter
from django.contrib.auth.models import AnonymousUser, User
from django.core.cache import cache

from leaderboard.live import forecasts
from leaderboard.live.forecasts import (
    ABSENT,
    EMPTY,
    MOST_CHARACTERS,
    NO_KERNEL,
    NO_TEXT,
    NOWHERE,
    TOO_FAST,
    TOO_LONG,
    Malformed,
    read,
)
from leaderboard.live.routing import websocket_urlpatterns
from leaderboard.models import Submission
from leaderboard.services import minutes
from surrogate import live, serving, tasks, work
from surrogate.desk import Desk
from surrogate.models import Anchor
from tests.leaderboard.sockets import Socket

pytestmark = pytest.mark.django_db(transaction=True)
APPLICATION = URLRouter(websocket_urlpatterns)
SOURCE = "def kernel(x):\n    return x + x\n"


def text(number: int = 1, **changes: object) -> str:
    typed = {"task": "double", "device": "cpu-test", "language": "python", "source": SOURCE}
    return json.dumps({"number": number, **typed, **changes})


@pytest.fixture(autouse=True)
def _fresh_cache() -> None:
    cache.clear()


@pytest.fixture
def working(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """A worker of this process on the real queue of typed texts."""
    monkeypatch.setattr(serving, "_desk", desk)
    live.say_status(live.WorkerStatus())
    broker = dramatiq.get_broker()
    broker.flush_all()
    worker = dramatiq.Worker(broker, queues={tasks.LIVE_QUEUE}, worker_threads=2, worker_timeout=50)
    worker.start()
    yield desk
    worker.stop()


async def opened(viewer: User | AnonymousUser) -> Socket:
    return await Socket(APPLICATION, "/ws/forecast/", viewer).open()


async def test_strangers_and_locked_accounts_are_closed(outsider: User) -> None:
    outsider.is_active = False
    for viewer in (AnonymousUser(), outsider):
        assert await (await opened(viewer)).close_code() == forecasts.CLOSE_NOT_ALLOWED


async def test_an_account_that_is_locked_later_is_told_nothing_more(
    outsider: User, anchor: Anchor, working: Desk
) -> None:
    page = await opened(outsider)
    await page.say(text())
    assert "html" in await page.frame()
    await User.objects.filter(pk=outsider.pk).aupdate(is_active=False)
    await page.say(text(number=2))
    assert await page.close_code() == forecasts.CLOSE_NOT_ALLOWED


@pytest.mark.parametrize(
    "sent",
    [
        "{",
        "[]",
        "[" * 5000,
        text(number=-1),
        json.dumps({"number": True}),
        text(language="cobol"),
        text(source=3),
        text(task="a\0b"),
        text(task="\ud800"),
        text(device="\ud800"),
    ],
)
async def test_what_our_page_would_never_send_closes_the_socket(owner: User, sent: str) -> None:
    with pytest.raises(Malformed):
        read(sent)
    page = await opened(owner)
    await page.say(sent)
    assert await page.close_code() == forecasts.CLOSE_MALFORMED


async def test_what_comes_after_a_refusal_is_not_answered() -> None:
    page = await opened(AnonymousUser())
    await page.say(text())
    await page.say("{")
    assert await page.close_code() == forecasts.CLOSE_NOT_ALLOWED


@pytest.mark.usefixtures("task", "device")
@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        (text(), ABSENT),
        (text(source=" \n"), EMPTY),
        (text(source="x" * (MOST_CHARACTERS + 1)), TOO_LONG),
        (text(source="a\0b"), NO_TEXT),
        (text(source="\ud800"), NO_TEXT),
    ],
)
async def test_without_a_forecast_it_says_why(owner: User, sent: str, sentence: str) -> None:
    page = await opened(owner)
    await page.say(sent)
    frame = await page.frame()
    assert frame["number"] == 1
    assert not frame["is_forecast"]
    assert sentence in frame["html"]
    await page.leave()


@pytest.mark.usefixtures("working", "anchor")
@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (text(source="def kernel(x):\n    return ("), "Line 2: "),
        (text(source="this = 1"), "defines no function kernel"),
        (text(language="cpp", source="int other;"), "defines no function kernel"),
    ],
)
async def test_what_would_be_refused_is_not_forecast(owner: User, sent: str, words: str) -> None:
    page = await opened(owner)
    await page.say(sent)
    frame = await page.frame()
    assert not frame["is_forecast"]
    assert NO_KERNEL in frame["html"]
    assert words in frame["html"]
    await page.leave()


async def test_a_typed_text_is_forecast_against_my_best_and_the_leader(
    owner: User,
    outsider: User,
    anchor: Anchor,
    submit: Callable[..., Submission],
    finish: Callable[..., Submission],
    working: Desk,
) -> None:
    for user, seconds in ((owner, 3e-3), (outsider, 2e-3)):
        await sync_to_async(finish)(await sync_to_async(submit)(user), seconds)
    page = await opened(owner)
    await page.say(text())
    frame = await page.frame()
    assert (frame["number"], frame["is_forecast"], frame["is_final"]) == (1, True, True)
    for words in (
        "your best",
        "outsider, first on the board",
        "reference, eager",
        "uncalibrated",
        "band",
        "confidence",
    ):
        assert words in frame["html"], words
    assert "your kernel is measured when you submit it" in frame["html"]
    await page.leave()


async def test_a_newer_text_takes_the_place_of_the_older(owner: User, anchor: Anchor, working: Desk) -> None:
    page = await opened(owner)
    for number in range(1, 6):
        await page.say(text(number, source=f"{SOURCE}# {number}\n"))
    numbers = []
    while 5 not in numbers:
        numbers.append((await page.frame())["number"])
    # One of the earlier ones may have been answered before the next came; none comes after a newer one.
    assert numbers == sorted(numbers)
    assert await page.hears_nothing()
    await page.leave()


async def test_no_task_no_forecast(owner: User, anchor: Anchor, working: Desk) -> None:
    page = await opened(owner)
    await page.say(text(task="none"))
    assert NOWHERE in (await page.frame())["html"]
    await page.leave()


async def test_a_person_asks_so_often_a_minute(
    owner: User, anchor: Anchor, working: Desk, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.FORECASTS_PER_MINUTE = 1
    monkeypatch.setattr(minutes, "this_minute", lambda: 1)
    sentences = []
    for _ in range(2):  # counted together, whatever the number of sockets
        page = await opened(owner)
        await page.say(text())
        sentences.append((await page.frame())["html"])
        await page.leave()
    assert "forecast-time" in sentences[0]
    assert TOO_FAST in sentences[1]


async def test_an_answer_that_never_comes_is_not_waited_for(
    owner: User, anchor: Anchor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forecasts, "PATIENCE", 0.01)
    live.say_status(live.WorkerStatus())  # said so, and was killed
    page = await opened(owner)
    await page.say(text())
    frame = await page.frame()
    assert frame["ask_again"]
    assert forecasts.LATE in frame["html"]
    await page.say(text(2, is_repeat=True))  # once, and no more
    frame = await page.frame()
    assert (frame["number"], frame["ask_again"]) == (2, False)
    assert forecasts.STILL_LATE in frame["html"]
    await page.leave()


async def asked(channel: str) -> None:
    await sync_to_async(live.ask)(
        channel=channel, number=1, spec="0" * 64, device=0, language="python", source=SOURCE, asker=0
    )


async def test_no_log_and_no_message_holds_what_is_typed(
    anchor: Anchor, desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setattr(serving, "_desk", desk)
    broker = dramatiq.get_broker()
    broker.flush_all()

    # Too old when a worker finds it, then one whose forecast fails quoting the text.
    monkeypatch.setitem(tasks.forecast_text.options, "max_age", -1)
    await asked("specific.skipped")
    await sync_to_async(drain)(broker)
    assert "skipped" in caplog.text

    def fail(*parts: object) -> None:
        raise SyntaxError(parts[-1], ("<typed>", 1, 1, parts[-1]))

    monkeypatch.setitem(tasks.forecast_text.options, "max_age", tasks.LIVE_AGE)
    monkeypatch.setattr(work, "_answer_draft", fail)
    await asked("specific.failing")
    await sync_to_async(drain)(broker)
    assert "a typed text cannot be forecast: SyntaxError at work.py:" in caplog.text

    def die(*parts: object) -> None:
        raise ConnectionError("no channel layer")

    monkeypatch.setattr(work, "_reply", die)  # the broker logs this one itself, with what led to it
    await asked("specific.dying")
    await sync_to_async(drain)(broker)
    assert "Failed to process message" in caplog.text
    assert "x + x" not in caplog.text


def drain(broker: dramatiq.Broker) -> None:
    worker = dramatiq.Worker(broker, queues={tasks.LIVE_QUEUE}, worker_threads=1, worker_timeout=50)
    worker.start()
    broker.join(tasks.LIVE_QUEUE)
    worker.stop()
