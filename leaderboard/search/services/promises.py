"""What a search may promise language models: whom it asks, and how much of a user's money a day."""

import os
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Sum
from django.utils import timezone

from leaderboard.search.llm import writers
from leaderboard.search.models import SearchRun
from leaderboard.services.errors import Refusal
from surrogate.llm.config import Config


def whom_to_ask(models: str, verifiers: str, *, money: float, tokens: int) -> writers.Setup:
    """Raises Refusal: no_key, model_unknown, limits_wrong."""
    config = Config.from_environment(os.environ)
    if not config.has_key:
        raise Refusal("no_key", "This site has no access to a language model.")
    if not (money > 0 and tokens > 0):
        raise Refusal(
            "limits_wrong", "A search by a language model needs limits of money and tokens above 0."
        )
    try:
        return writers.setup(models, verifiers, config)
    except ValueError as error:
        raise Refusal("model_unknown", f"Models: {error}.") from error


def require_money(*, user: User, money: float) -> None:
    """Raises Refusal over_money where a user's searches of the last day were promised too much by it.

    Promised and not spent is what counts, so that what runs at once can't overspend together. Locks the
    user's row until the transaction ends, so that parallel calls are counted one by one.
    """
    if money == 0:
        return
    User.objects.select_for_update(no_key=True).only("pk").get(pk=user.pk)
    recent = SearchRun.objects.filter(user=user, created_at__gt=timezone.now() - timedelta(days=1))
    promised = recent.aggregate(total=Sum("money_limit"))["total"] or 0.0
    most = settings.SEARCH_CENTS_PER_USER_DAY / 100
    if promised + money > most and not user.is_staff:
        raise Refusal(
            "over_money",
            f"Your searches of the last day may cost ${promised:.2f} already; with ${money:.2f} more they "
            f"would pass the ${most:.2f} a day that a user may spend on language models.",
        )
