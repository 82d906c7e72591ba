"""How much one person may enter: in a minute, waiting at once, and checks in a day."""

import logging
from datetime import UTC

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from leaderboard.models import Submission
from leaderboard.services.errors import Refusal
from leaderboard.services.minutes import count_within_minute
from runners.contract.vocabulary import Mode
from runners.models import EvaluationStatus

logger = logging.getLogger(__name__)


def check_rate(*, user: User) -> None:
    """Raises Refusal too_fast. Counts attempts, as refused ones cost work too; pages and API count as one.

    Without a cache nobody is counted: what costs device time is bounded in the database.
    """
    try:
        tried = count_within_minute(f"submit-rate:{user.pk}")
    except Exception as error:  # noqa: BLE001 each cache backend has errors of its own
        logger.warning("submissions are not throttled, the cache failed: %s", error)
        return
    if tried > settings.SUBMISSIONS_PER_MINUTE:
        raise Refusal(
            "too_fast",
            f"At most {settings.SUBMISSIONS_PER_MINUTE} submissions a minute; wait for the next one.",
        )


def check_queued(*, user: User) -> None:
    """Raises Refusal too_many_queued. Locks the user's row, so that parallel calls are counted one by one.

    Must be called inside a transaction.
    """
    # no_key: rows that merely refer to the user may still be written by others.
    User.objects.select_for_update(no_key=True).only("pk").get(pk=user.pk)
    require_room(user=user)


def require_room(*, user: User) -> None:
    """Raises Refusal too_many_queued. Without ``check_queued``'s lock: early, and only nearly right."""
    waiting = Submission.objects.filter(user=user, evaluation__status=EvaluationStatus.QUEUED).count()
    if waiting >= settings.MAX_QUEUED_PER_USER:
        raise Refusal(
            "too_many_queued",
            f"{waiting} of your submissions are waiting, at most {settings.MAX_QUEUED_PER_USER} may; "
            "cancel one or wait until one has started.",
        )


def check_runs_today(*, user: User) -> None:
    """Raises Refusal too_many_checks: checks cost no device time, but compilers are not free."""
    midnight = timezone.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    made = Submission.objects.filter(user=user, mode=Mode.CHECK, created_at__gte=midnight).count()
    if made >= settings.CHECK_RUNS_PER_DAY:
        raise Refusal(
            "too_many_checks",
            f"You had {made} check runs today, at most {settings.CHECK_RUNS_PER_DAY} are allowed; "
            "the count starts anew at 00:00 UTC.",
        )
