"""``ws/searches/<uuid>/``: for those who may see the run."""

from leaderboard.live.consumers import RestrictedConsumer
from leaderboard.search.live import RunFrame, run_frame, run_group
from leaderboard.search.models import SearchRun
from leaderboard.search.selectors import runs


class SearchConsumer(RestrictedConsumer):
    """A page that hears a number above its own reads what came after it."""

    def group(self) -> str:
        return run_group(self.scope["url_route"]["kwargs"]["run_id"])

    def current(self) -> RunFrame | None:
        try:
            return run_frame(
                runs.get_visible(self.scope["url_route"]["kwargs"]["run_id"], self.scope["user"])
            )
        except SearchRun.DoesNotExist:
            return None
