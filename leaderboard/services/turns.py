"""Turns at heavy answers: files made of a whole search, or of many megabytes.

Few are made at once, and for one person one, so that who asks for many leaves the others a site that answers.
Turns lie in the cache: all web processes share them, and those of a killed process end by themselves.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.core.cache import cache

from leaderboard.services.errors import Busy

logger = logging.getLogger(__name__)

#: An answer takes seconds. One that took longer than this would count for nothing for the rest of it.
LEASE_SECONDS = 60
#: Before its end a turn is left to end by itself: what lies under its key might be the next one's.
_MARGIN_SECONDS = 2
_RETRY_SECONDS = 5


@contextmanager
def turn(who: str) -> Iterator[None]:
    """One turn for ``who``, a word that tells people apart. Raises Busy at once where there is none."""
    taken: list[str] = []
    ends = time.monotonic() + LEASE_SECONDS - _MARGIN_SECONDS
    try:
        if (refusal := _taken_for(who, taken)) is not None:
            raise refusal
        yield
    finally:
        if time.monotonic() < ends:
            _give_back(taken)


def _taken_for(who: str, taken: list[str]) -> Busy | None:
    """Adds keys to ``taken`` one by one; why there is no turn, if there is none."""
    try:
        if not _is_ours(f"turn-of:{who}", taken):
            said = "You have a download under way, and one at a time is made; try again when it has come."
            return Busy("one_download", said, _RETRY_SECONDS, is_own=True)
        if any(_is_ours(f"turn:{place}", taken) for place in range(settings.DOWNLOADS_AT_ONCE)):
            return None
    except Exception as error:  # noqa: BLE001 each cache backend has errors of its own
        # Uncounted they could take the site down, and nothing else depends on a download.
        logger.warning("no downloads are made, the cache failed: %s", error)
    said = "As many downloads are being made as the site makes at once; try again in a few seconds."
    return Busy("downloads_busy", said, _RETRY_SECONDS, is_own=False)


def _is_ours(key: str, taken: list[str]) -> bool:
    if not cache.add(key, 1, timeout=LEASE_SECONDS):
        return False
    taken.append(key)
    return True


def _give_back(taken: list[str]) -> None:
    try:
        cache.delete_many(taken)
    except Exception as error:  # noqa: BLE001 as above; they end by themselves
        logger.warning("turns at downloads were not given back: %s", error)
