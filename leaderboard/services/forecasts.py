"""Telling the surrogate what it must know: what to forecast, and what forecasts are relative to."""

from django.conf import settings
from django.db import transaction

from leaderboard.models import Baseline, Score, Standing, Submission
from leaderboard.services import boards
from runners.contract.vocabulary import Mode, Verdict
from runners.models import Device, Evaluation
from surrogate.services import anchors, questions


def ask(*, submission: Submission) -> None:
    """Have a new submission forecast. Two queries; the forecast itself is made elsewhere, or not at all.

    Compile-only runs are left out: nothing would ever tell whether the forecast was right.
    """
    if not settings.SURROGATE or submission.mode == Mode.CHECK:
        return
    fastest = (
        Score.objects.filter(
            version_id=submission.version_id, device_id=submission.device_id, standing=Standing.RANKED
        )
        .order_by("seconds")
        .values_list("seconds", flat=True)
        .first()
    )
    questions.ask(evaluation=submission.evaluation, incumbent_seconds=fastest)


def note_end(*, evaluation: Evaluation) -> None:
    """A run ended: forecasts of a board are relative to its eager reference, and what fails is pending no
    more."""
    submission = Submission.objects.filter(evaluation=evaluation).only("baseline", "mode").first()
    if submission is None:
        return
    if submission.baseline == Baseline.EAGER:
        anchors.set_anchor(evaluation=evaluation, name=Baseline.EAGER.label)
    elif evaluation.verdict != Verdict.PASSED:  # a score tells the board itself
        note_change(evaluation=evaluation)


def note_missing_anchors(*, device: Device) -> int:
    """The same for references that were measured before anybody asked for forecasts."""
    measured = Submission.objects.filter(
        device=device, baseline=Baseline.EAGER, score__isnull=False, evaluation__anchor=None
    ).select_related("evaluation")
    return sum(
        anchors.set_anchor(evaluation=submission.evaluation, name=Baseline.EAGER.label) is not None
        for submission in measured
    )


@transaction.atomic
def note_change(*, evaluation: Evaluation) -> None:
    """What the board of a ranked run shows as pending changed."""
    submission = Submission.objects.filter(evaluation=evaluation, mode=Mode.RANKED, baseline="").first()
    if submission is not None:
        boards.note_change(
            board=boards.lock(version_id=submission.version_id, device_id=submission.device_id)
        )
