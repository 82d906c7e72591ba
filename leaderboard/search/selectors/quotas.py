"""How much searching one person may do: runs at once, measurements within a day, money within a day."""

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Case, F, Q, Sum, When
from django.utils import timezone

from leaderboard.search.models import RunStatus, SearchRun

#: A run counts against the quotas as long as it goes, and until this long after it was started.
WINDOW = timedelta(days=1)


@dataclass(frozen=True)
class Quota:
    """Of one user. What a going run may still use counts as used; what an ended one left over does not.

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
    """One query."""
    going = Q(status__in=(RunStatus.RUNNING, RunStatus.PAUSED))
    recent = SearchRun.objects.filter(user=user).filter(going | Q(created_at__gt=timezone.now() - WINDOW))
    sums = recent.aggregate(
        runs=Sum(Case(When(going, then=1), default=0)),
        measurements=Sum(Case(When(going, then=F("measurements_limit")), default=F("measurements_spent"))),
        dollars=Sum(Case(When(going, then=F("money_limit")), default=F("money_spent"))),
    )
    return Quota(
        runs=sums["runs"] or 0,
        most_runs=settings.MAX_SEARCH_RUNS_PER_USER,
        measurements=sums["measurements"] or 0,
        most_measurements=settings.SEARCH_MEASUREMENTS_PER_USER_DAY,
        dollars=sums["dollars"] or 0.0,
        most_dollars=settings.SEARCH_CENTS_PER_USER_DAY / 100,
        is_bound=not user.is_staff,
    )
