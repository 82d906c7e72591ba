"""Whose candidates are whose, for forecasts (``surrogate/visibility.py``)."""

from uuid import UUID

from django.db.models import Q

from leaderboard.search.models import SearchRun
from surrogate.visibility import Readers


def _asker(evaluation: UUID) -> int | None:
    runs = SearchRun.objects.filter(candidates__evaluation_id=evaluation)
    return runs.values_list("user_id", flat=True).first()


READERS = Readers(
    public=Q(evaluation__search_candidate__run__is_public=True),
    of=lambda user: Q(evaluation__search_candidate__run__user_id=user),
    asker=_asker,
)
