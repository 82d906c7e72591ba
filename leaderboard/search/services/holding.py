"""A running search that waits for the site: read-only, it takes no step, and no time of its limit passes."""

from django.db.models import F
from django.utils import timezone

from leaderboard.search.live import publish_run
from leaderboard.search.models import RunStatus, SearchRun
from leaderboard.search.services.clock import wall_seconds
from leaderboard.services import site_mode
from leaderboard.services.errors import Refusal

#: What a page shows of a run that waits; anything else in ``stop_message`` is not ours to clear.
_WORD = "Waiting: "


def wait_while_read_only(run: SearchRun) -> bool:
    """Whether ``run`` must wait. It goes on by itself, unlike a paused one, as nobody had paused it."""
    try:
        site_mode.require_open()
    except Refusal as refusal:
        _hold(run, refusal.message)
        return True
    if run.going_since is None:
        _release(run)
    return False


def _hold(run: SearchRun, reason: str) -> None:
    """Stops the clock and names the reason. Writes where something changes: each look comes here."""
    message = f"{_WORD}{reason}"[:300]
    if run.going_since is None and run.stop_message == message:
        return
    # Fenced by the start that the seconds were counted from, or two workers would add them twice.
    held = SearchRun.objects.filter(pk=run.pk, status=RunStatus.RUNNING, going_since=run.going_since)
    passed = wall_seconds(run) - run.wall_seconds_spent
    if held.update(
        going_since=None, stop_message=message, wall_seconds_spent=F("wall_seconds_spent") + passed
    ):
        publish_run(run)


def _release(run: SearchRun) -> None:
    held = SearchRun.objects.filter(pk=run.pk, status=RunStatus.RUNNING, going_since=None)
    if held.update(going_since=timezone.now(), stop_message=""):
        run.refresh_from_db(fields=["going_since", "stop_message"])
        publish_run(run)
