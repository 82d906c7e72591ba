"""What a run can pay for now: of its own device seconds, and of its owner's and the site's day."""

from dataclasses import dataclass
from datetime import datetime

from leaderboard.models import Reservation, Spend
from leaderboard.search.models import SearchRun
from leaderboard.search.services import profiles
from leaderboard.selectors import days, estimates
from leaderboard.selectors.budgets import budget_of
from leaderboard.selectors.site import site_status
from runners.contract.limits import LIMITS
from runners.contract.vocabulary import Mode

#: The most that a measurement takes, seconds: what is queued can be stopped, what has begun can't.
_DEADLINE = LIMITS[Mode.BENCHMARK].deadline


@dataclass(frozen=True)
class Means:
    """``each`` device seconds are set aside for a measurement, ``profile`` for a profile; ``unpromised`` of
    the run are neither used nor set aside, and ``day_left`` of the day, of which there are ``day_whole``.
    Under way are ``profiling`` of the run, which measures nothing now, and ``today`` of all that the owner's
    day pays for. ``room``: as many more may be under way at once.
    """

    each: float
    profile: float
    unpromised: float
    day_left: float
    day_whole: float
    refills_at: datetime
    profiling: int
    today: int
    room: int

    @property
    def by_run(self) -> int:
        return int(self.unpromised // self.each)

    @property
    def by_day(self) -> int:
        return int(self.day_left // self.each)

    @property
    def at_once(self) -> int:
        """Measurements that may be queued together."""
        return min(self.by_run, self.by_day, self.room)

    def left_beside(self, measuring: int) -> float:
        """Device seconds for a profile beside so many measurements."""
        if measuring >= self.room:
            return 0.0
        return min(self.unpromised, self.day_left) - self.each * measuring


def means_of(run: SearchRun) -> Means:
    """Nine queries at most. The site's day counts as the owner's: neither refills before midnight."""
    costs = estimates.reservations(run.version.spec_id, [run.device_id])
    own, site = budget_of(run.user, run.device), site_status()
    left = run.device_seconds_limit - run.device_seconds_spent
    profiling, today = profiles.under_way(run), under_way_today(run)
    return Means(
        each=costs[run.device_id, str(Mode.BENCHMARK)],
        profile=costs[run.device_id, str(Mode.PROFILE)],
        unpromised=left - run.device_seconds_reserved,  # a profile's may be
        day_left=min(own.left, site.left),
        day_whole=min(own.allowance, site.allowance),
        refills_at=own.refills_at,
        profiling=profiling,
        today=today,
        room=min(room_for(left, profiling), room_for(own.allowance - own.spent, today)),
    )


def under_way_today(run: SearchRun) -> int:
    """Evaluations that the owner's day of the device pays for, queued or begun."""
    spends = Spend.objects.filter(user=run.user_id, device=run.device_id, day=days.today())
    return Reservation.objects.filter(spend__in=spends).count()


def room_for(left: float, under_way: int) -> int:
    """How many more may be under way so that ``left`` seconds are passed by one of them at most, should all
    take their deadline, each on a runner of its own.
    """
    return max(0, 1 + int(max(0.0, left) // _DEADLINE) - under_way)
