"""``ws/searches/<uuid>/``: for those who may see the run."""

from typing import Any

from channels.db import database_sync_to_async

from leaderboard.live.consumers import FrameConsumer
from leaderboard.search.live import RunFrame, run_frame, run_group
from leaderboard.search.models import SearchRun
from leaderboard.search.selectors import runs


class SearchConsumer(FrameConsumer):
    """A page that hears a number above its own reads what came after it."""

    async def group_name(self) -> str | None:
        if await database_sync_to_async(self.current)() is None:
            return None
        return run_group(self.scope["url_route"]["kwargs"]["run_id"])

    async def recheck(self, _event: dict[str, Any]) -> None:
        """The owner changed who may see it."""
        await self.send_current()

    def current(self) -> RunFrame | None:
        try:
            return run_frame(
                runs.get_visible(self.scope["url_route"]["kwargs"]["run_id"], self.scope["user"])
            )
        except SearchRun.DoesNotExist:
            return None
