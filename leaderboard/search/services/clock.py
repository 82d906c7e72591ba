"""How long a run has been going."""

from django.utils import timezone

from leaderboard.search.models import SearchRun


def wall_seconds(run: SearchRun) -> float:
    """Seconds that the run has been going, pauses left out."""
    since = (timezone.now() - run.going_since).total_seconds() if run.going_since else 0.0
    return run.wall_seconds_spent + max(0.0, since)
