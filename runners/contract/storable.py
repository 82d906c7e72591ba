"""Which text can be stored: PostgreSQL takes no NUL and no half of a surrogate pair, not even to look for."""

import re
from collections.abc import Mapping
from typing import Any

_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")


def is_storable(text: str) -> bool:
    return _NOT_STORABLE.search(text) is None


def first_unstorable(text: str) -> int | None:
    """Where the first character stands that can't be stored."""
    found = _NOT_STORABLE.search(text)
    return found.start() if found else None


def storable(text: str) -> str:
    """``text`` with U+FFFD in place of what can't be stored: equal to nothing that somebody else stored."""
    return _NOT_STORABLE.sub("\ufffd", text)


def storable_document(value: Any) -> Any:
    """``value``, as of JSON, with every text in it ``storable``, keys as well."""
    match value:
        case str():
            return storable(value)
        case Mapping():
            return {storable(str(key)): storable_document(item) for key, item in value.items()}
        case list() | tuple():
            return [storable_document(item) for item in value]
        case _:
            return value
