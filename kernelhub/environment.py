"""Readers of environment variables that fail loudly, with one sentence naming the variable."""

import os
from collections.abc import Mapping
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


def text(name: str, default: str = "", environ: Mapping[str, str] = os.environ) -> str:
    """The variable's text. ``NAME_FILE`` may name a file that holds it instead, as container secrets do."""
    path = environ.get(f"{name}_FILE")
    if path:
        if name in environ:
            raise ImproperlyConfigured(f"both {name} and {name}_FILE are set: keep one")
        try:
            return Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ImproperlyConfigured(f"{name}_FILE: cannot read {path}: {error.strerror}") from error
    return environ.get(name, default)


def flag(name: str, default: bool = False, environ: Mapping[str, str] = os.environ) -> bool:
    value = text(name, "1" if default else "0", environ).strip().lower()
    if value not in _TRUE | _FALSE:
        raise ImproperlyConfigured(f"{name}={value!r} is neither yes nor no")
    return value in _TRUE


def integer(name: str, default: int, environ: Mapping[str, str] = os.environ) -> int:
    value = text(name, str(default), environ)
    try:
        return int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name}={value!r} is not a whole number") from None


def words(name: str, default: str = "", environ: Mapping[str, str] = os.environ) -> list[str]:
    """A comma-separated list."""
    return [word.strip() for word in text(name, default, environ).split(",") if word.strip()]
