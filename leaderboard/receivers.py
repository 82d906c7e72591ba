"""Reactions to what the runners report."""

from typing import Any

from allauth.account.signals import user_signed_up
from django.conf import settings
from django.db import transaction
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.http import HttpRequest

from leaderboard.live import publish
from leaderboard.models import Score
from leaderboard.services import audits, baselines, budgets, forecasts, scores, site_budget
from runners.models import Device, Evaluation
from runners.signals import device_registered, evaluation_finished, evaluation_progressed
from surrogate.signals import forecast_answered


@receiver(evaluation_finished)
def on_finished(evaluation: Evaluation, **_: Any) -> None:
    """Settle and score in the transaction that stores the result; tell the pages once it is committed."""
    if budgets.settle(evaluation=evaluation) is None:
        site_budget.add(seconds=evaluation.device_seconds)  # a baseline, an audit: nobody's, but spent
    scores.record(evaluation=evaluation)
    audits.conclude(evaluation=evaluation)
    transaction.on_commit(lambda: publish.publish_evaluation(evaluation))
    # Apart and robust: what follows is about forecasts, and a verdict never depends on them.
    transaction.on_commit(lambda: forecasts.note_end(evaluation=evaluation), robust=True)


@receiver(forecast_answered)
def on_forecast(evaluation: Evaluation, **_: Any) -> None:
    forecasts.note_change(evaluation=evaluation)


@receiver(evaluation_progressed)
def on_progressed(evaluation: Evaluation, **_: Any) -> None:
    # After commit, so that a page that answers the doorbell finds what it was rung for.
    transaction.on_commit(lambda: publish.publish_evaluation(evaluation))


@receiver(post_delete, sender=Score)
def on_score_deleted(instance: Score, **_: Any) -> None:
    # Whoever leads now may never have been audited. After commit, as the whole board must be seen.
    transaction.on_commit(
        lambda: audits.look_at_board(version_id=instance.version_id, device_id=instance.device_id)
    )


@receiver(user_signed_up)
def on_signed_up(request: HttpRequest, **_: Any) -> None:
    # Read by the message of the log-in that follows, which would greet a new account like an old one.
    request.META["KERNELHUB_NEW_ACCOUNT"] = True


@receiver(device_registered)
def on_device_registered(device: Device, **_: Any) -> None:
    forecasts.note_missing_anchors(device=device)
    if settings.MEASURE_BASELINES:
        baselines.enqueue_missing(device)
