"""``ws/forecast/``: while somebody writes a kernel, what the surrogate thinks of it.

One text is under way per connection. A newer one cancels it: its answer is dropped, and the worker stops
where it can. Nothing typed is stored.
"""

import asyncio
import json
import logging
from dataclasses import dataclass
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth.models import User
from django.template.loader import render_to_string

from leaderboard.forecast_view import ForecastView, Rival, abstention_view, view_of
from leaderboard.models import TaskVersion
from leaderboard.selectors.forecasts import rivals
from leaderboard.selectors.specs import stored_spec
from leaderboard.selectors.viewers import is_person
from leaderboard.services.errors import Refusal
from leaderboard.services.minutes import count_within_minute
from leaderboard.services.sources import check_entry_point
from runners.contract.storable import is_storable
from runners.contract.vocabulary import Language
from runners.models import Device
from surrogate import live
from surrogate.contract.forecast import Forecast

logger = logging.getLogger(__name__)

#: Not logged in, or locked.
CLOSE_NOT_ALLOWED = 4401
#: What was sent is nothing that our own page sends.
CLOSE_MALFORMED = 4400
#: Characters of source that are forecast while typing; longer ones are forecast once submitted.
MOST_CHARACTERS = 16_000
#: Seconds after which an answer is not waited for any more.
PATIENCE = 12.0

ABSENT = "No forecaster is running at present. Your kernel is measured all the same."
EMPTY = "Nothing to forecast yet."
NO_KERNEL = "No forecast of what would not be accepted yet."
NO_TEXT = "No forecast: the source holds a NUL or half a character, and is refused as it is."
LATE = "The forecaster is busy; it is asked once more in a moment."
STILL_LATE = "The forecaster is busy; the next change asks again."
TOO_LONG = f"Over {MOST_CHARACTERS:,} characters are forecast only once submitted."
TOO_FAST = "Enough forecasts for this minute; the next change after it asks again."
NOWHERE = "There is no such task or device any more; load the page again."
MEASURED_ANYWAY = "Whatever it says, your kernel is measured when you submit it."


@dataclass(frozen=True)
class Typed:
    """A text as the page sends it; ``number`` grows with every change."""

    number: int
    task: str
    device: str
    language: Language
    source: str
    is_repeat: bool = False  # the page asks once more about a text that got no answer


class Malformed(ValueError):
    """Not a text of our own page."""


def read(text: str) -> Typed:
    """Raises Malformed."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise Malformed("not JSON") from None
    if not isinstance(document, dict):
        raise Malformed("not an object")
    number = document.get("number")
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**31:
        raise Malformed("'number' is no number of a text")
    words = [document.get(key) for key in ("task", "device", "language", "source")]
    task, device, language, source = (word if isinstance(word, str) else None for word in words)
    if task is None or device is None or source is None or language not in list(Language):
        raise Malformed("a text lacks its task, device, language or source")
    if not is_storable(task + device):
        raise Malformed("the task or device is no text")
    return Typed(number, task, device, Language(language), source, document.get("is_repeat") is True)


class ForecastConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    async def connect(self) -> None:
        self._under_way: Typed | None = None
        self._next: Typed | None = None
        self._newest = -1
        self._rivals: list[Rival] = []
        self._patience: asyncio.TimerHandle | None = None
        self._is_closed = False
        # A socket closed before it is accepted reaches the browser without the code.
        await self.accept()
        if not settings.SURROGATE or not await database_sync_to_async(is_person)(self.scope["user"]):
            await self.close(CLOSE_NOT_ALLOWED)

    async def close(self, code: int | None = None, reason: str | None = None) -> None:
        """What was sent before the other side heard of it still comes, and asks for nothing more."""
        self._is_closed = True
        await super().close(code, reason)

    async def disconnect(self, code: int) -> None:
        self._stop_waiting()
        await self._supersede(-1)  # the worker need not go on for nobody

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **_: Any) -> None:
        if self._is_closed:
            return
        try:
            typed = read(text_data or "")
        except Malformed:
            await self.close(CLOSE_MALFORMED)
            return
        self._newest = typed.number
        if self._under_way is None:
            await self._start(typed)
        else:
            self._next = typed
            await self._supersede(typed.number)

    async def forecast_answer(self, event: dict[str, Any]) -> None:
        """From the worker. The first answer to the text under way makes room for the next."""
        number = event["number"]
        if self._under_way is not None and number == self._under_way.number:
            self._stop_waiting()
        if number == self._newest and not event.get("is_dropped"):
            view = self._view(event)
            refining = not event["is_final"]
            note = "A language model is reading it too…" if refining else MEASURED_ANYWAY
            await self._show(number, view, note=note, is_final=not refining)
        await self._go_on()

    async def forecast_late(self, typed: Typed) -> None:
        self._stop_waiting()
        if typed.number == self._newest:
            await self._say(
                typed.number, STILL_LATE if typed.is_repeat else LATE, ask_again=not typed.is_repeat
            )
        await self._go_on()

    async def _start(self, typed: Typed) -> None:
        if len(typed.source) > MOST_CHARACTERS:
            await self._say(typed.number, TOO_LONG)
        elif not typed.source.strip():
            await self._say(typed.number, EMPTY)
        elif not is_storable(typed.source):
            await self._say(typed.number, NO_TEXT)
        elif not await database_sync_to_async(self._is_still_in)():
            await self.close(CLOSE_NOT_ALLOWED)
        elif not await database_sync_to_async(self._may_ask)():
            await self._say(typed.number, TOO_FAST)
        else:
            self._under_way = typed
            problem = await database_sync_to_async(self._ask)(typed)
            if problem:
                self._stop_waiting()
                await self._say(typed.number, problem)
                return
            loop = asyncio.get_running_loop()
            self._patience = loop.call_later(
                PATIENCE, lambda: asyncio.ensure_future(self.forecast_late(typed))
            )

    async def _go_on(self) -> None:
        if self._under_way is None and self._next is not None:
            typed, self._next = self._next, None
            await self._start(typed)

    def _stop_waiting(self) -> None:
        self._under_way = None
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _is_still_in(self) -> bool:
        """Sockets live on after their session was ended or their account locked."""
        session = self.scope.get("session")
        if session is not None and session.session_key and not session.exists(session.session_key):
            return False
        return User.objects.filter(pk=self.scope["user"].pk, is_active=True).exists()

    def _may_ask(self) -> bool:
        """Counts per user, whatever the number of connections. Without a cache nothing could be asked."""
        try:
            asked = count_within_minute(f"forecast-rate:{self.scope['user'].pk}")
        except Exception as error:  # noqa: BLE001 each cache backend has errors of its own
            logger.warning("a typed text is not forecast, the cache failed: %s", error)
            return False
        return asked <= settings.FORECASTS_PER_MINUTE

    def _ask(self, typed: Typed) -> str:
        """Send the text to the worker; why not, in a sentence, or nothing."""
        if live.worker_status() is None:
            return ABSENT
        version = TaskVersion.objects.filter(task__slug=typed.task, is_current=True).only("spec").first()
        device = Device.objects.filter(slug=typed.device).first()
        if version is None or device is None:
            return NOWHERE
        try:
            # What would not be accepted has no time. A forecaster sees words, and would give it one.
            check_entry_point(typed.source, typed.language, stored_spec(version.spec_id))
        except Refusal as refusal:
            return f"{NO_KERNEL} {refusal.message}"
        self._rivals = rivals(version, device, self.scope["user"])
        try:
            live.ask(
                channel=self.channel_name,
                number=typed.number,
                spec=version.spec_id,
                device=device.pk,
                language=typed.language,
                source=typed.source,
                asker=self.scope["user"].pk,
            )
        except Exception as error:  # noqa: BLE001 the broker's errors differ by kind of broker
            logger.warning("a typed text could not be sent to the surrogate: %s", type(error).__name__)
            return ABSENT
        return ""

    async def _supersede(self, number: int) -> None:
        try:
            await database_sync_to_async(live.supersede)(channel=self.channel_name, number=number)
        except Exception as error:  # noqa: BLE001 it only saves work
            logger.warning("a typed text could not be withdrawn: %s", error)

    def _view(self, event: dict[str, Any]) -> ForecastView:
        if "document" not in event:
            return abstention_view(event["message"])
        anchor = event["anchor_seconds"]
        against = [*self._rivals, Rival(event["anchor_name"], anchor)]
        return view_of(
            Forecast.from_document(event["document"]), anchor, against, outcomes=event.get("outcomes")
        )

    async def _say(self, number: int, sentence: str, *, ask_again: bool = False) -> None:
        await self._show(number, abstention_view(sentence), ask_again=ask_again)

    async def _show(
        self,
        number: int,
        view: ForecastView,
        *,
        note: str = "",
        is_final: bool = True,
        ask_again: bool = False,
    ) -> None:
        context = {"view": view, "note": note}
        html = await database_sync_to_async(render_to_string)("surrogate/_forecast.html", context)
        frame = {
            "number": number,
            "html": html,
            "is_final": is_final,
            "is_forecast": view.seconds is not None,
            "ask_again": ask_again,
        }
        await self.send(text_data=json.dumps(frame))
