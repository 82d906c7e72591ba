"""How many submissions one person may have waiting."""

from django.conf import settings
from django.contrib.auth.models import User

from leaderboard.models import Submission
from leaderboard.services.errors import Refusal
from runners.models import EvaluationStatus


def check_queued(*, user: User) -> None:
    """Raises Refusal too_many_queued. Locks the user's row, so that parallel calls are counted one by one.

    Must be called inside a transaction.
    """
    # no_key: rows that merely refer to the user may still be written by others.
    User.objects.select_for_update(no_key=True).only("pk").get(pk=user.pk)
    waiting = Submission.objects.filter(user=user, evaluation__status=EvaluationStatus.QUEUED).count()
    if waiting >= settings.MAX_QUEUED_PER_USER:
        raise Refusal(
            "too_many_queued",
            f"{waiting} of your submissions are waiting, at most {settings.MAX_QUEUED_PER_USER} may; "
            "cancel one or wait until one has started.",
        )
