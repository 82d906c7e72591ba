"""One socket per submission page and per board. Sockets only speak; what a browser sends is ignored."""

from abc import ABC, abstractmethod
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer

from leaderboard.live.groups import (
    BoardFrame,
    SubmissionFrame,
    board_group,
    submission_frame,
    submission_group,
)
from leaderboard.models import Submission, Task
from leaderboard.selectors import submissions, tasks
from leaderboard.selectors.boards import board_seq
from runners.models import Device

#: There is no such thing, or not for this visitor; the two look the same.
CLOSE_NOT_FOUND = 4404


class FrameConsumer(AsyncJsonWebsocketConsumer, ABC):  # type: ignore[misc]  # channels has no types
    """Joins a group and passes its frames on, beginning with the current one."""

    async def connect(self) -> None:
        # A socket closed before it is accepted reaches the browser without the code.
        await self.accept()
        group = await self.group_name()
        if group is None:
            await self.close(CLOSE_NOT_FOUND)
            return
        # The group comes first: what happens between the two lines arrives twice, not never.
        await self.channel_layer.group_add(group, self.channel_name)
        self.groups.append(group)  # left on disconnect by the base class
        await self.send_current()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **_: Any) -> None:
        """Nothing is expected, so nothing is parsed."""

    async def frame(self, event: dict[str, Any]) -> None:
        await self.send_json(event["frame"])

    async def send_current(self) -> None:
        current = await database_sync_to_async(self.current)()
        if current is None:
            await self.close(CLOSE_NOT_FOUND)
        else:
            await self.send_json(current)

    @abstractmethod
    async def group_name(self) -> str | None:
        """The group to join; None when the visitor may not."""

    @abstractmethod
    def current(self) -> Any:
        """The frame that describes the state now; None when the visitor may not have it."""


class RestrictedConsumer(FrameConsumer):
    """Of what only some may see: who gets no frame joins no group."""

    async def group_name(self) -> str | None:
        return self.group() if await database_sync_to_async(self.current)() is not None else None

    async def recheck(self, _event: dict[str, Any]) -> None:
        """The owner changed who may see it."""
        await self.send_current()

    @abstractmethod
    def group(self) -> str:
        """The group of what the address names."""


class SubmissionConsumer(RestrictedConsumer):
    """``ws/submissions/<uuid>/``: for those who may see the submission."""

    def group(self) -> str:
        return submission_group(self.scope["url_route"]["kwargs"]["submission_id"])

    def current(self) -> SubmissionFrame | None:
        submission_id = self.scope["url_route"]["kwargs"]["submission_id"]
        try:
            return submission_frame(submissions.get_visible(submission_id, self.scope["user"]).evaluation)
        except Submission.DoesNotExist:
            return None


class BoardConsumer(FrameConsumer):
    """``ws/boards/<task>/<device>/``: public."""

    async def group_name(self) -> str | None:
        group: str | None = await database_sync_to_async(self._group)()
        return group

    def current(self) -> BoardFrame | None:
        task, device = self._rows()
        if task is None or device is None:
            return None
        return {"seq": board_seq(tasks.current_version(task), device)}

    def _group(self) -> str | None:
        task, device = self._rows()
        return board_group(task.pk, device.pk) if task and device else None

    def _rows(self) -> tuple[Task | None, Device | None]:
        names = self.scope["url_route"]["kwargs"]
        task = Task.objects.filter(slug=names["task_slug"], versions__is_current=True).first()
        return task, Device.objects.filter(slug=names["device_slug"]).first()


class NowhereConsumer(FrameConsumer):
    """Every other address."""

    async def group_name(self) -> None:
        return None

    def current(self) -> None:
        return None
