"""How much searching one person may do: runs at once, measurements within a day, money within a day."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import F, FloatField, Q, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Greatest
from django.utils import timezone

from leaderboard.search.llm.models import JournalEntry
from leaderboard.search.models import RunStatus, SearchEvent, SearchRun

#: What was measured and paid counts this long, from when it was settled: a run may be older, and go on again.
WINDOW = timedelta(days=1)


@dataclass(frozen=True)
class Quota:
    """Of one user: what was used within the window, whatever run used it, and what going runs may still use.

    What an ended run left over is free again; what it still has under way is not.

    Device seconds are not here: a search spends those of its owner's day, like everything else.
    """

    runs: int  # running or paused
    most_runs: int
    measurements: int
    most_measurements: int
    dollars: float  # for language models
    most_dollars: float
    is_bound: bool = True  # staff is not, save for the number of runs

    def refusal(
        self, *, runs: int = 0, measurements: int = 0, dollars: float = 0.0
    ) -> tuple[str, str] | None:
        """(rule, sentence) of why so much more may not be had; None where it may."""
        if runs and self.runs + runs > self.most_runs:
            return (
                "too_many_runs",
                f"{self.runs} of your searches are running or paused, at most {self.most_runs} may; "
                "cancel one or wait until one has ended.",
            )
        if not self.is_bound:
            return None
        if measurements and self.measurements + measurements > self.most_measurements:
            return (
                "over_measurements",
                f"Your searches of the last day have taken or may still take {self.measurements} "
                f"measurements; {measurements} more would pass the {self.most_measurements} within a day "
                "that one person may have.",
            )
        if dollars and self.dollars + dollars > self.most_dollars:
            return (
                "over_money",
                f"Your searches of the last day have cost or may cost ${self.dollars:.2f}; with "
                f"${dollars:.2f} more they would pass the ${self.most_dollars:.2f} a day that a user may "
                "spend on language models.",
            )
        return None


def quota_of(user: User) -> Quota:
    """Three queries."""
    since = timezone.now() - WINDOW
    going = Q(status__in=(RunStatus.RUNNING, RunStatus.PAUSED))
    # A call of a model that died with its process stays reserved in a run that has ended: not for ever here.
    ended = Q(status=RunStatus.FINISHED, finished_at__gt=since)
    sums = SearchRun.objects.filter(going | ended, user=user).aggregate(
        runs=Sum(1, filter=going, default=0),
        measurements=Sum(F("measurements_limit") - F("measurements_spent"), filter=going, default=0),
        dollars=Sum(Greatest(F("money_limit") - F("money_spent"), 0.0), filter=going, default=0.0),
        measuring=Sum("measurements_reserved", filter=ended, default=0),
        asking=Sum("money_reserved", filter=ended, default=0.0),
    )
    return Quota(
        runs=sums["runs"],
        most_runs=settings.MAX_SEARCH_RUNS_PER_USER,
        measurements=_measured(user, since) + sums["measurements"] + sums["measuring"],
        most_measurements=settings.SEARCH_MEASUREMENTS_PER_USER_DAY,
        dollars=_paid(user, since) + sums["dollars"] + sums["asking"],
        most_dollars=settings.SEARCH_CENTS_PER_USER_DAY / 100,
        is_bound=not user.is_staff,
    )


def _measured(user: User, since: datetime) -> int:
    events = SearchEvent.objects.filter(run__user=user, kind=SearchEvent.Kind.MEASURED)
    return events.filter(created_at__gt=since).count()


def _paid(user: User, since: datetime) -> float:
    """US dollars of the calls that were answered, or booked as lost, since then."""
    replies = JournalEntry.objects.filter(
        run__user=user, kind=JournalEntry.Kind.REPLIED, created_at__gt=since
    )
    paid = replies.aggregate(dollars=Sum(Cast(KT("document__cost"), FloatField()), default=0.0))
    return float(paid["dollars"])
