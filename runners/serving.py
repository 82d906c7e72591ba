"""The life of a runner process: consume one queue, beat, stop on a signal without losing work."""

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator

import dramatiq
from django.db import InterfaceError, OperationalError, close_old_connections

from runners import tasks
from runners.execution import RunnerContext, become_runner
from runners.lifetime import Lifetime
from runners.models import Runner
from runners.services.devices import heartbeat
from runners.services.queue import ring
from runners.services.sweeping import release_runner

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 5


def serve(
    context: RunnerContext, queue: str, every: Callable[[], None] | None = None, seconds: float = 5
) -> None:
    """Serve ``queue`` until SIGTERM or SIGINT, calling ``every`` each ``seconds`` seconds.

    On a signal the evaluation under way is stopped and queued again, uncounted.
    """
    become_runner(context)
    lifetime = Lifetime(context.shutting_down)
    broker = tasks.evaluate_next.broker
    broker.declare_queue(queue)
    # One thread: one evaluation at a time on a device, and a dead thread ends the process (dramatiq#445).
    worker = dramatiq.Worker(broker, queues={queue}, worker_threads=1, worker_timeout=200)
    worker.start()
    beat = _start_beat(context.runner, lifetime.over)
    ring(queue)
    logger.info("serving %s, tier %s", queue, context.runner.tier)
    for _ in lifetime.rounds(seconds):
        if every is not None:
            close_old_connections()
            try:
                every()
            except (OperationalError, InterfaceError):
                # A database that is away for a moment must not end the process; the next round tells.
                logger.exception("the periodic work of %s failed", queue)
    worker.stop(timeout=30_000)
    beat.join(timeout=HEARTBEAT_SECONDS)
    close_old_connections()
    release_runner(runner=context.runner)


@contextlib.contextmanager
def beating(runner: Runner) -> Iterator[None]:
    """Keep ``runner`` alive while it does something long before it serves."""
    stop = threading.Event()
    beat = _start_beat(runner, stop)
    try:
        yield
    finally:
        stop.set()
        beat.join(timeout=HEARTBEAT_SECONDS)


def _start_beat(runner: Runner, stop: threading.Event) -> threading.Thread:
    beat = threading.Thread(target=_beat, args=(runner, stop), name="heartbeat", daemon=True)
    beat.start()
    return beat


def _beat(runner: Runner, stop: threading.Event) -> None:
    while not stop.wait(HEARTBEAT_SECONDS):
        close_old_connections()
        try:
            heartbeat(runner=runner)
        except Exception:
            # A database that is away for a moment must not end the beat; the next one tells.
            logger.exception("heartbeat failed")
