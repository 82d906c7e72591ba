"""Reactions to what the runners report. All after the commit: a verdict never depends on the surrogate."""

import logging
from typing import Any

from django.db import transaction
from django.dispatch import receiver

from runners.models import Evaluation
from runners.signals import evaluation_finished
from surrogate.services import bell, outcomes

logger = logging.getLogger(__name__)


@receiver(evaluation_finished)
def on_finished(evaluation: Evaluation, **_: Any) -> None:
    transaction.on_commit(lambda: _note(evaluation), robust=True)


def _note(evaluation: Evaluation) -> None:
    """What is missed here is made up for by the worker (``outcomes.record_missing``)."""
    if outcomes.record(evaluation=evaluation) is not None:
        bell.ring()
