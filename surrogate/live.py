"""Between a web process, where people type, and the surrogate worker, where forecasters are loaded.

All through Redis: what is said here is worth seconds and is stored nowhere.
"""

import logging
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from django.core.cache import cache

logger = logging.getLogger(__name__)

_STATUS = "surrogate.worker"
#: A worker that has not said so for this long is away; it says so every BEAT_SECONDS.
_AWAY_SECONDS = 20
BEAT_SECONDS = 5
_NEWEST_SECONDS = 60
_DRAFT = "surrogate.draft"
#: As long as the page waits for an answer, and a little.
_DRAFT_SECONDS = 15


@dataclass(frozen=True)
class WorkerStatus:
    """What the worker told last."""

    members: Mapping[str, str] = field(default_factory=dict)  # forecaster → version
    weights: Mapping[str, float] = field(default_factory=dict)  # of the ensemble
    problems: Mapping[str, str] = field(default_factory=dict)  # forecaster → why it is absent, one sentence
    outcomes: int = 0  # learned from

    @property
    def has_language_model(self) -> bool:
        return bool({"local", "anthropic"} & self.members.keys())


def say_status(status: WorkerStatus) -> None:
    try:
        cache.set(_STATUS, asdict(status), timeout=_AWAY_SECONDS)
    except Exception as error:  # noqa: BLE001 each cache backend has errors of its own
        logger.warning("the surrogate worker cannot tell its status: %s", error)


def worker_status() -> WorkerStatus | None:
    """None while no worker runs, or nobody can tell."""
    try:
        told: dict[str, Any] | None = cache.get(_STATUS)
    except Exception as error:  # noqa: BLE001 as above
        logger.warning("the surrogate worker's status cannot be read: %s", error)
        return None
    return WorkerStatus(**told) if told else None


def ask(*, channel: str, number: int, spec: str, device: int, language: str, source: str, asker: int) -> None:
    """Have a text that the user ``asker`` types forecast; answers reach ``channel``.

    Raises what the broker and the cache raise.
    The text itself goes by the cache, where it expires: messages are logged, and kept when they are skipped.
    """
    from surrogate.tasks import forecast_text

    supersede(channel=channel, number=number)
    draft = secrets.token_hex(16)
    cache.set(f"{_DRAFT}.{draft}", source, timeout=_DRAFT_SECONDS)
    forecast_text.send(channel, number, spec, device, language, draft, asker)


def take_draft(draft: str) -> str | None:
    """The typed text, once; None when it expired."""
    key = f"{_DRAFT}.{draft}"
    source: str | None = cache.get(key)
    cache.delete(key)
    return source


def supersede(*, channel: str, number: int) -> None:
    """From now on only text ``number`` of ``channel`` is waited for."""
    cache.set(f"{_STATUS}.newest.{channel}", number, timeout=_NEWEST_SECONDS)


def is_newest(*, channel: str, number: int) -> bool:
    """Whether anybody still waits for this text."""
    newest: int | None = cache.get(f"{_STATUS}.newest.{channel}")
    return newest is None or newest == number
