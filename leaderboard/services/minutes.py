"""How often something was done within a minute, counted in the cache."""

from django.core.cache import cache
from django.utils import timezone


def count_within_minute(what: str) -> int:
    """Counts once more for ``what`` and returns the count of this minute. Raises what the cache raises."""
    key = f"{what}:{this_minute()}"
    cache.add(key, 0, timeout=120)
    return cache.incr(key)


def this_minute() -> int:
    """Minutes since the epoch."""
    return int(timezone.now().timestamp()) // 60
