"""Remembering what was read from a source, without letting large sources fill the memory."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

T = TypeVar("T")

#: Sources up to this many characters are remembered; longer ones are rare and read again each time.
_REMEMBERED = 32_768


def remembered(entries: int) -> Callable[[Callable[[str, str], T]], Callable[[str, str], T]]:
    """Like ``lru_cache`` for a function of (language, source), for sources of ordinary length only."""

    def decorate(function: Callable[[str, str], T]) -> Callable[[str, str], T]:
        cached = lru_cache(maxsize=entries)(function)

        @wraps(function)
        def wrapper(language: str, source: str) -> T:
            return function(language, source) if len(source) > _REMEMBERED else cached(language, source)

        return wrapper

    return decorate
