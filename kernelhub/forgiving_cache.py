"""The site's cache: Redis, without which people can still log in."""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import redis
from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.redis import RedisCache

logger = logging.getLogger(__name__)

_AWAY = (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError)
_RATES = (
    "allauth:rl:"  # keys of allauth's rate limits and of their locks; allauth knows the default cache only
)
_T = TypeVar("_T")


class ForgivingCache(RedisCache):
    """Redis, whose absence counts as "nothing is known" for the rates of log-in and sign-up.

    What that trades: while Redis is away, attempts at passwords are not counted. They stay as slow as the
    password hash makes them, and the site stays usable, its admin for one. Every other key fails as before:
    who uses one has a fallback of his own.
    """

    def add(
        self, key: Any, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None
    ) -> bool:
        # True: the lock of a rate is ours at once, where False would be waited for.
        return self._try(key, partial(super().add, key, value, timeout, version), missing=True)

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        return self._try(key, partial(super().get, key, default, version), missing=default)

    def set(
        self, key: Any, value: Any, timeout: float | None = DEFAULT_TIMEOUT, version: int | None = None
    ) -> None:
        self._try(key, partial(super().set, key, value, timeout, version), missing=None)

    def delete(self, key: Any, version: int | None = None) -> bool:
        return self._try(key, partial(super().delete, key, version), missing=False)

    def _try(self, key: Any, call: Callable[[], _T], *, missing: _T) -> _T:
        if not str(key).startswith(_RATES):
            return call()
        try:
            answer = call()
        except _AWAY as error:
            _Absence.note(error)
            return missing
        _Absence.over()
        return answer


class _Absence:
    """One line when it begins; each thread has a cache object of its own, so it is kept here."""

    _noted = False

    @classmethod
    def note(cls, error: Exception) -> None:
        if not cls._noted:
            cls._noted = True
            logger.warning("attempts to log in are not counted until the cache is back: %s", error)

    @classmethod
    def over(cls) -> None:
        cls._noted = False
