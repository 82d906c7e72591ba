"""Reactions to what the runners report. Connected after the leaderboard's: its locks come first."""

from typing import Any

from django.dispatch import receiver

from leaderboard.search.services import outcomes, profiles
from runners.models import Evaluation
from runners.signals import evaluation_finished


@receiver(evaluation_finished)
def on_finished(evaluation: Evaluation, **_: Any) -> None:
    outcomes.record(evaluation=evaluation)
    profiles.record(evaluation=evaluation)
