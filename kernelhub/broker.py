"""The Dramatiq broker: Redis by default, RabbitMQ where the URL says so."""

import os

import dramatiq
from django.conf import settings
from dramatiq.brokers.redis import RedisBroker
from dramatiq.middleware import AgeLimit, Callbacks, Pipelines, Retries, ShutdownNotifications

from kernelhub.database_middleware import DatabaseConnections

# One long job at a time: prefetching would hoard work that another runner could do (dramatiq#392).
os.environ.setdefault("dramatiq_queue_prefetch", "1")


def _middleware() -> list[dramatiq.Middleware]:
    # No TimeLimit: it cannot stop a system call (dramatiq#211); the supervisor's own deadline ends a run.
    # No retries by the broker either: attempts are counted in PostgreSQL (dramatiq#213).
    return [
        AgeLimit(),
        ShutdownNotifications(notify_shutdown=False),
        Callbacks(),
        Pipelines(),
        Retries(max_retries=0),
        DatabaseConnections(),
    ]


def make_broker(url: str) -> dramatiq.Broker:
    """The broker at ``url``: ``redis://``, ``rediss://``, ``unix://`` or ``amqp://``."""
    if url.startswith(("amqp://", "amqps://")):
        from dramatiq.brokers.rabbitmq import RabbitmqBroker  # needs the pika package

        return RabbitmqBroker(url=url, middleware=_middleware())
    return RedisBroker(url=url, middleware=_middleware(), namespace="kernelhub")  # type: ignore[no-untyped-call]


broker = make_broker(settings.BROKER_URL)
dramatiq.set_broker(broker)
