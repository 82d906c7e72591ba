"""The surrogate worker's doorbell: "there is something to answer or to learn". A lost ring costs seconds."""

import logging

from django.core.cache import cache

logger = logging.getLogger(__name__)

_RUNG = "surrogate.rung"
#: While the worker is away, one message waits and no more; after this long another one may join it.
_RING_AGAIN_SECONDS = 60


def ring() -> None:
    """Wake the worker. Never raises: what waits is in the database, and the worker looks by itself too."""
    from surrogate.tasks import work  # here, because the actor's module imports the services

    try:
        if cache.add(_RUNG, 1, timeout=_RING_AGAIN_SECONDS):
            work.send()
    except Exception as error:  # noqa: BLE001 cache and broker have errors of their own
        logger.warning("could not ring the surrogate worker: %s", error)


def answered() -> None:
    """The worker heard it. Called before it looks for work, so that what comes meanwhile rings again."""
    try:
        cache.delete(_RUNG)
    except Exception as error:  # noqa: BLE001 as above
        logger.warning("could not quiet the surrogate's bell: %s", error)
