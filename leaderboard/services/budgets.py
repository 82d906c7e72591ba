"""Device seconds: set aside before a run, settled after it. The day's row is locked while it changes."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest

from leaderboard.models import Reservation, Spend
from leaderboard.selectors.budgets import Budget, allowances_of, make_budget
from leaderboard.selectors.days import today
from leaderboard.services import site_budget
from leaderboard.services.errors import Refusal
from runners.models import Device, Evaluation


def lock(*, user: User, device: Device) -> tuple[Spend, Budget]:
    """Today's row of user and device, locked until the transaction ends, and the budget it leaves.

    Whoever wants to reserve takes this lock first, so that two submissions can't spend the same seconds.
    """
    day = today()
    Spend.objects.get_or_create(user=user, device=device, day=day)
    spend = Spend.objects.select_for_update().get(user=user, device=device, day=day)
    return spend, make_budget(allowances_of(user, [device])[device.pk], spend, day)


def require(*, budget: Budget, seconds: float, device: Device) -> None:
    """Raises Refusal over_budget when the budget leaves less than ``seconds``."""
    if seconds > budget.left:
        raise Refusal(
            "over_budget",
            f"This run may take {seconds:.0f} device seconds of {device.name} and {budget.left:.0f} are left "
            f"of your {budget.allowance:.0f} a day; they refill at {budget.refills_at:%Y-%m-%d %H:%M} UTC.",
        )


@transaction.atomic
def reserve(*, spend: Spend, evaluation: Evaluation, seconds: float) -> Reservation:
    """Hold ``seconds`` of a locked ``spend`` and of the site's day for ``evaluation``.

    Raises Refusal site_budget_spent. Lock order everywhere: evaluation, spend, site's day, board.
    """
    site_budget.reserve(day=spend.day, seconds=seconds)
    Spend.objects.filter(pk=spend.pk).update(reserved_seconds=F("reserved_seconds") + seconds)
    return Reservation.objects.create(evaluation=evaluation, spend=spend, seconds=seconds)


@transaction.atomic
def settle(*, evaluation: Evaluation) -> float | None:
    """Turn the reservation of a finished evaluation into what it used; seconds spent, or None.

    Safe to call twice: the delete decides who settles, and only one caller deletes the row. Seconds go to
    the day on which they were reserved, also when the run ended on the next.
    """
    reservation = Reservation.objects.filter(evaluation=evaluation).select_related("spend").first()
    if reservation is None or not Reservation.objects.filter(pk=reservation.pk).delete()[0]:
        return None
    spent = max(0.0, evaluation.device_seconds)
    Spend.objects.filter(pk=reservation.spend_id).update(
        # Floating sums drift by rounding: never below nothing.
        reserved_seconds=Greatest(F("reserved_seconds") - reservation.seconds, 0.0),
        spent_seconds=F("spent_seconds") + spent,
    )
    site_budget.settle(day=reservation.spend.day, reserved=reservation.seconds, spent=spent)
    return spent
