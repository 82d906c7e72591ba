"""Who may change a run."""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from leaderboard.search.models import SearchRun


def require_owner(run: SearchRun, user: User | None) -> None:
    """Raises PermissionDenied. ``user`` None: the site itself, not a person."""
    if user is not None and not (user.is_active and (user.is_staff or run.user_id == user.pk)):
        raise PermissionDenied("Only its owner and staff may change a search.")


def is_locked(run: SearchRun) -> bool:
    """Whether its owner's account is locked by now, whatever was read of it before. One query."""
    return not User.objects.filter(pk=run.user_id, is_active=True).exists()


def by_whom(run: SearchRun, user: User | None) -> str:
    """Who changed a run, for the sentence that stays with it."""
    if user is None:
        return "the site"
    return "its owner" if run.user_id == user.pk else "staff"
