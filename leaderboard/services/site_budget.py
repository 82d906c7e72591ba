"""The spend breaker: device seconds of everybody together, per UTC day. The day's row is locked while it
changes.
"""

from datetime import date

from django.db.models import F
from django.db.models.functions import Greatest

from leaderboard.models import SiteSpend
from leaderboard.selectors import site
from leaderboard.selectors.days import refill_time, today
from leaderboard.services.errors import Refusal


def reserve(*, day: date, seconds: float) -> None:
    """Hold ``seconds`` of the day, locked until the transaction ends. Raises Refusal site_budget_spent."""
    SiteSpend.objects.get_or_create(day=day)
    spend = SiteSpend.objects.select_for_update().get(day=day)
    left = site.seconds_per_day() - spend.spent_seconds - spend.reserved_seconds
    if seconds > left:
        raise Refusal(
            "site_budget_spent",
            f"This run may take {seconds:.0f} device seconds, and {max(0, left):.0f} are left today for all "
            f"users together; they refill at {refill_time(day):%Y-%m-%d %H:%M} UTC.",
        )
    SiteSpend.objects.filter(day=day).update(reserved_seconds=F("reserved_seconds") + seconds)


def settle(*, day: date, reserved: float, spent: float) -> None:
    """Turn seconds held into seconds used. Call once per reservation."""
    SiteSpend.objects.filter(day=day).update(
        reserved_seconds=Greatest(F("reserved_seconds") - reserved, 0.0),
        spent_seconds=F("spent_seconds") + spent,
    )


def add(*, seconds: float) -> None:
    """Count a run that nobody reserved for. It is never refused: it is ours."""
    if seconds <= 0:
        return
    SiteSpend.objects.get_or_create(day=today())
    SiteSpend.objects.filter(day=today()).update(spent_seconds=F("spent_seconds") + seconds)
