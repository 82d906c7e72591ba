"""The state of the whole site: whether it takes submissions, and what may still be spent today."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from leaderboard.models import SiteSpend, SiteState
from leaderboard.selectors.days import refill_time, today
from leaderboard.selectors.estimates import LEAST_RESERVATION


@dataclass(frozen=True)
class SiteStatus:
    """Device seconds of all users and devices on this UTC day."""

    is_read_only: bool
    reason: str
    allowance: float
    spent: float
    reserved: float
    left: float  # never negative
    refills_at: datetime

    @property
    def is_spent(self) -> bool:
        """Whether not even the shortest run can be entered."""
        return self.left < LEAST_RESERVATION


def site_status() -> SiteStatus:
    """Two queries."""
    state = SiteState.objects.filter(pk=1).first()
    day = today()
    spend = SiteSpend.objects.filter(day=day).first()
    allowance = _allowance(state)
    spent = spend.spent_seconds if spend else 0.0
    reserved = spend.reserved_seconds if spend else 0.0
    return SiteStatus(
        is_read_only=state is not None and state.is_read_only,
        reason=state.reason if state else "",
        allowance=allowance,
        spent=spent,
        reserved=reserved,
        left=max(0.0, allowance - spent - reserved),
        refills_at=refill_time(day),
    )


def seconds_per_day() -> float:
    return _allowance(SiteState.objects.filter(pk=1).first())


def _allowance(state: SiteState | None) -> float:
    if state is not None and state.device_seconds_per_day is not None:
        return float(state.device_seconds_per_day)
    return float(settings.SITE_DEVICE_SECONDS_PER_DAY)
