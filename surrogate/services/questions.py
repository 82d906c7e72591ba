"""Asking the surrogate about an evaluation. The answer is made elsewhere and later, or never."""

from django.db import transaction
from django.db.models import QuerySet

from runners.models import Evaluation
from surrogate.models import Question
from surrogate.services import bell


def ask(*, evaluation: Evaluation, incumbent_seconds: float | None = None) -> Question:
    """Ask how fast the kernel of a queued evaluation will be; ``incumbent_seconds`` is the time to beat.

    Costs one row. The worker is rung once the surrounding transaction commits.
    """
    question, _ = Question.objects.get_or_create(
        evaluation=evaluation, defaults={"incumbent_seconds": incumbent_seconds}
    )
    # robust: a bell that does not ring must not turn a stored submission into an error page.
    transaction.on_commit(bell.ring, robust=True)
    return question


def waiting(limit: int) -> QuerySet[Question]:
    """Open questions, oldest first, with what answering them needs."""
    return (
        Question.objects.filter(closed_at=None)
        .select_related("evaluation__kernel", "evaluation__device")
        .defer("evaluation__result", "evaluation__progress")
        .order_by("asked_at", "pk")[:limit]
    )
