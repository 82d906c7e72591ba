"""The doorbell. A ring says "this queue has work", not which: the runner claims the next row itself."""

import logging

import dramatiq
from django.conf import settings

logger = logging.getLogger(__name__)

#: The queue of compile-only work, which needs no device.
CHECK_QUEUE = "check"


def ring(queue: str) -> None:
    """Wake one runner of ``queue``. A lost ring costs time only: the sweeper rings again."""
    from runners.tasks import evaluate_next  # here, because the actor's module imports the services

    broker = dramatiq.get_broker()
    try:
        broker.declare_queue(queue)
        broker.enqueue(evaluate_next.message(queue).copy(queue_name=queue))
    except dramatiq.errors.ConnectionError as error:
        logger.warning(
            "could not ring %s, the sweeper will within %d s: %s", queue, settings.SWEEP_SECONDS, error
        )
