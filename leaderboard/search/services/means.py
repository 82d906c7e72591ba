"""What a run can pay for now: of its own device seconds, and of its owner's and the site's day."""

from dataclasses import dataclass

from leaderboard.search.models import SearchRun
from leaderboard.search.services import profiles
from leaderboard.selectors import estimates
from leaderboard.selectors.budgets import Budget, budget_of
from leaderboard.selectors.devices import runners_alive
from runners.contract.limits import LIMITS
from runners.contract.vocabulary import Mode


@dataclass(frozen=True)
class Means:
    """``each`` device seconds are set aside for a measurement, ``profile`` for a profile; ``unpromised`` are
    neither used nor set aside. ``room``: as many more may be under way at once, None where one at a time is.
    """

    each: float
    profile: float
    unpromised: float
    day: Budget
    profiles_under_way: int
    room: int | None

    @property
    def by_run(self) -> int:
        return int(self.unpromised // self.each)

    @property
    def by_day(self) -> int:
        return int(self.day.left // self.each)

    @property
    def at_once(self) -> int:
        """Measurements that may be queued together."""
        paid_for = min(self.by_run, self.by_day)
        return paid_for if self.room is None else min(paid_for, self.room)

    def left_beside(self, measuring: int) -> float:
        """Device seconds for a profile beside so many measurements."""
        if self.room is not None and measuring >= self.room:
            return 0.0
        return min(self.unpromised, self.day.left) - self.each * measuring


def means_of(run: SearchRun) -> Means:
    """Seven queries at most."""
    costs = estimates.reservations(run.version.spec_id, [run.device_id])
    spent, limit = run.device_seconds_spent, run.device_seconds_limit
    day = budget_of(run.user, run.device)
    profiling = profiles.under_way(run)
    room = None
    if runners_alive().get(run.device_id, 0) > 1:
        room = room_for(min(limit - spent, day.left), LIMITS[Mode.BENCHMARK].deadline, profiling)
    return Means(
        each=costs[run.device_id, str(Mode.BENCHMARK)],
        profile=costs[run.device_id, str(Mode.PROFILE)],
        unpromised=limit - spent - run.device_seconds_reserved,  # a profile's may be
        day=day,
        profiles_under_way=profiling,
        room=room,
    )


def room_for(left: float, deadline: float, under_way: int) -> int:
    """How many more may be under way on several runners so that ``left`` is passed by one of them at most,
    should all take their ``deadline``: what is queued can be stopped, what has begun can't.
    """
    return max(0, 1 + int(max(0.0, left) // deadline) - under_way)
