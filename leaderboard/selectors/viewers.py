"""Who may see what. Every page, API route and socket asks here."""

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Q

from leaderboard.models import Submission

#: Whoever looks: a user, an anonymous visitor, or None for the latter.
Viewer = User | AnonymousUser | None


def is_person(viewer: Viewer) -> bool:
    """Whether the viewer is logged in and not locked."""
    return viewer is not None and viewer.is_authenticated and viewer.is_active


def may_see(submission: Submission, viewer: Viewer) -> bool:
    """Whether the viewer may read the submission's source and run."""
    return submission.is_public or may_manage(submission, viewer)


def may_manage(submission: Submission, viewer: Viewer) -> bool:
    """Whether the viewer is its owner or staff: those read also what the site thinks of it."""
    if viewer is None or not is_person(viewer):
        return False
    return viewer.is_staff or (submission.user_id is not None and submission.user_id == viewer.pk)


def visible_to(viewer: Viewer) -> Q:
    """The same rule as ``may_see``, as a condition on Submission rows."""
    if viewer is None or not is_person(viewer):
        return Q(is_public=True)
    if viewer.is_staff:
        return Q()
    return Q(is_public=True) | Q(user_id=viewer.pk)
