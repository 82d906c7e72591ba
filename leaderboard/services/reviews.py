"""What a person decides about a score that the site won't believe by itself, or should not have believed."""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from leaderboard.models import Score, Standing
from leaderboard.services import audits, boards
from runners.services import evaluations


def release(*, reviewer: User, score: Score) -> bool:
    """Let a held or withdrawn score count; it is audited all the same if it is first and never was.

    False when it is neither held nor withdrawn by now. Raises PermissionDenied.
    """
    return _decide(reviewer, score, (Standing.HELD, Standing.WITHDRAWN), Standing.RANKED, "")


def reject(*, reviewer: User, score: Score, reason: str = "") -> bool:
    """Take a score off the board. False when it was withdrawn already. Raises PermissionDenied."""
    words = reason.strip() or "Rejected after a review."
    return _decide(
        reviewer, score, (Standing.RANKED, Standing.AUDITING, Standing.HELD), Standing.WITHDRAWN, words[:500]
    )


@transaction.atomic
def _decide(reviewer: User, score: Score, before: tuple[Standing, ...], after: Standing, reason: str) -> bool:
    if not (reviewer.is_active and reviewer.is_staff and reviewer.has_perm("leaderboard.change_score")):
        raise PermissionDenied("Only staff who may change scores can review them.")
    board = boards.lock(version_id=score.version_id, device_id=score.device_id)
    changed = Score.objects.filter(pk=score.pk, standing__in=before).update(
        standing=after, standing_reason=reason, reviewed_by=reviewer, reviewed_at=timezone.now()
    )
    if not changed:
        return False
    audits.audit_leaders(board=board)
    boards.note_change(board=board)
    evaluations.note_change(evaluation=score.submission.evaluation)
    return True
