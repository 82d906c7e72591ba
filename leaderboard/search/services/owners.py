"""Who may change a run."""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from leaderboard.search.models import SearchRun


def require_owner(run: SearchRun, user: User | None) -> None:
    """Raises PermissionDenied. ``user`` None: the site itself, not a person."""
    if user is not None and not (user.is_active and (user.is_staff or run.user_id == user.pk)):
        raise PermissionDenied("Only the owner of a search may change it.")
