"""Reactions to what the runners report."""

from typing import Any

from django.conf import settings
from django.db import transaction
from django.dispatch import receiver

from leaderboard.live import publish
from leaderboard.services import baselines, budgets, scores
from runners.models import Device, Evaluation
from runners.signals import device_registered, evaluation_finished, evaluation_progressed


@receiver(evaluation_finished)
def on_finished(evaluation: Evaluation, **_: Any) -> None:
    """Settle and score in the transaction that stores the result; tell the pages once it is committed."""
    budgets.settle(evaluation=evaluation)
    score = scores.record(evaluation=evaluation)
    transaction.on_commit(lambda: publish.publish_evaluation(evaluation))
    if score is not None:
        transaction.on_commit(lambda: publish.publish_board(score))


@receiver(evaluation_progressed)
def on_progressed(evaluation: Evaluation, **_: Any) -> None:
    # After commit, so that a page that answers the doorbell finds what it was rung for.
    transaction.on_commit(lambda: publish.publish_evaluation(evaluation))


@receiver(device_registered)
def on_device_registered(device: Device, **_: Any) -> None:
    if settings.MEASURE_BASELINES:
        baselines.enqueue_missing(device)
