"""Reading values out of a parsed TOML document: what is wrong becomes one sentence naming what and where."""

from collections.abc import Mapping
from typing import Any


class SpecError(ValueError):
    """A task file breaks its format; the message names the place."""


def entries(table: Mapping[str, Any], key: str, where: str = "") -> list[Any]:
    """The list under ``key``. Raises SpecError."""
    value = table.get(key)
    if not isinstance(value, list):
        raise SpecError(f"{_place(where, key)}: must be a list")
    return value


def tables(table: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """The tables under ``key``, one at least. Raises SpecError."""
    items = entries(table, key)
    if not items or not all(isinstance(item, Mapping) for item in items):
        raise SpecError(f"{key}: must be a list of at least one table")
    return items


def section(table: Mapping[str, Any], key: str, where: str = "") -> Mapping[str, Any]:
    """The table under ``key``. Raises SpecError."""
    value = table.get(key)
    if not isinstance(value, Mapping):
        raise SpecError(f"{_place(where, key)}: must be a table")
    return value


def optional_section(table: Mapping[str, Any], key: str, where: str = "") -> Mapping[str, Any]:
    """As ``section``, empty where the key is missing."""
    return section(table, key, where) if key in table else {}


def text(table: Mapping[str, Any], key: str, where: str) -> str:
    """The words under ``key``, never empty. Raises SpecError."""
    value = table.get(key)
    if not isinstance(value, str) or not value.strip():
        raise SpecError(f"{where}.{key}: must be a text")
    return value


def member(kind: Any, value: Any, where: str) -> Any:
    """``value`` as a member of the enumeration ``kind``. Raises SpecError."""
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(kind)
        raise SpecError(f"{where}: {value!r} is not one of {known}") from None


def known_keys(table: Mapping[str, Any], known: set[str], where: str) -> None:
    """Raises SpecError for the first key of ``table`` that is none of ``known``."""
    for key in sorted(set(table) - known):
        raise SpecError(f"{where}: unknown key {key!r}")


def _place(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key
