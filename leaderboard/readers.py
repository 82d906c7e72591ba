"""Whose submissions are whose, for forecasts (``surrogate/visibility.py``)."""

from uuid import UUID

from django.db.models import Q

from leaderboard.models import Submission
from surrogate.visibility import Readers

_IS_ONE = Q(evaluation__submission__isnull=False)


def _asker(evaluation: UUID) -> int | None:
    return Submission.objects.filter(evaluation_id=evaluation).values_list("user_id", flat=True).first()


READERS = Readers(
    public=_IS_ONE & (Q(evaluation__submission__is_public=True) | ~Q(evaluation__submission__baseline="")),
    of=lambda user: Q(evaluation__submission__user_id=user),
    asker=_asker,
)
