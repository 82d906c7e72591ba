"""Who may read which measured kernel. That is not known here: the layers above declare it when they load.

It matters where a kernel is told of, not where it only informs a number among many: in a prompt to somebody
else's model, whose words other people are then shown, and in the record of the very source that is asked
about, where a forecast is the measurement.
"""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from surrogate.models import Outcome


@dataclass(frozen=True)
class Readers:
    """What one layer knows of what it had measured. Both conditions are on ``Outcome``."""

    public: Q
    of: Callable[[int], Q]  # user's id → what is this user's own
    asker: Callable[[UUID], int | None]  # evaluation's id → the id of the user whose it is


_declared: list[Readers] = []


def declare(readers: Readers) -> None:
    _declared.append(readers)


def is_public() -> Exists:
    """To annotate or filter outcomes with. Nothing is public where nobody declared what is."""
    return _any([readers.public for readers in _declared])


def is_readable(user: int | None) -> Exists:
    """The same for what ``user`` may read: what is public, and what is the user's own."""
    own = [] if user is None else [readers.of(user) for readers in _declared]
    return _any([*(readers.public for readers in _declared), *own])


def asker_of(evaluation: UUID) -> int | None:
    """The id of the user whose evaluation it is; None for the site's own."""
    found = (readers.asker(evaluation) for readers in _declared)
    return next((user for user in found if user is not None), None)


def _any(conditions: list[Q]) -> Exists:
    if not conditions:
        return Exists(Outcome.objects.none())
    whole = Q()
    for condition in conditions:
        whole |= condition
    return Exists(Outcome.objects.filter(whole, pk=OuterRef("pk")))
