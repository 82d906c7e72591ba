"""Scores: the ranked outcome of a submission."""

import logging

from leaderboard.likeness import sketch
from leaderboard.models import Score, Standing, Submission
from leaderboard.services import audits, boards
from leaderboard.trust import doubt_of, measured_of
from runners.contract.vocabulary import Mode, Verdict
from runners.models import Evaluation, Kernel

logger = logging.getLogger(__name__)


def record(*, evaluation: Evaluation) -> Score | None:
    """Write the score of a submission's ranked evaluation that passed; None for every other.

    A time that there is a doubt about (below the device's ceilings, taken while something else slowed the
    device down, or of calls that overlap) is held for a person, and one that would be first is audited before
    it counts. Runs in the transaction that stores the
    result. Safe to call twice: a submission has at most one score.
    """
    if evaluation.mode != Mode.RANKED or evaluation.verdict != Verdict.PASSED:
        return None
    submission = Submission.objects.filter(evaluation=evaluation).first()
    if submission is None:
        return None
    document = evaluation.result or {}
    measured = measured_of(document)
    if measured is None:
        if document.get("score"):
            # A raised error would undo the verdict and have the run repeated; this must not be ranked.
            logger.error("evaluation %s passed with impossible times", evaluation.pk)
        return None
    # Two entries may reach the top at once: the second must see the first.
    board = boards.lock(version_id=submission.version_id, device_id=submission.device_id)
    # A baseline holds no rank; were it held back, every speed-up would be gone with it.
    doubt = "" if submission.baseline else doubt_of(measured, document)
    score, is_new = Score.objects.get_or_create(
        submission=submission,
        defaults={
            "version_id": submission.version_id,
            "device_id": submission.device_id,
            "user_id": submission.user_id,
            "baseline": submission.baseline,
            "seconds": measured.seconds,
            "ci_low": measured.ci_low,
            "ci_high": measured.ci_high,
            "roofline": measured.roofline,
            "work": measured.work,
            "cases": list(measured.cases),
            "standing": Standing.HELD if doubt else Standing.RANKED,
            "standing_reason": doubt,
        },
    )
    if is_new:
        _remember_text(evaluation.kernel)
        audits.audit_leaders(board=board)
        boards.note_change(board=board)
    return score


def _remember_text(kernel: Kernel) -> None:
    """So that boards can tell copies. Here and not on entering: whoever enters should not wait for it."""
    if kernel.sketch is None:
        kernel.sketch = sketch(kernel.language, kernel.source)
        Kernel.objects.filter(pk=kernel.pk).update(sketch=kernel.sketch)
