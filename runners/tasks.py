"""Dramatiq actors. They import neither torch nor submitted code, and decide nothing."""

import dramatiq

from runners.execution import current_runner, run_next


@dramatiq.actor(queue_name="check", max_retries=0)
def evaluate_next(queue: str) -> None:
    """See the waiting evaluations of ``queue`` through, one after the other, until none waits.

    So one ring is enough for many rows, and rings that were lost cost nothing while a runner is at work.
    """
    while run_next(queue, current_runner()):
        pass
