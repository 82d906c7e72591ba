"""Dramatiq actors. They import neither torch nor submitted code, and decide nothing."""

import dramatiq

from runners.execution import current_runner, run_next


@dramatiq.actor(queue_name="check", max_retries=0)
def evaluate_next(queue: str) -> None:
    """Take the next waiting evaluation of ``queue``, if any, and see it through."""
    run_next(queue, current_runner())
