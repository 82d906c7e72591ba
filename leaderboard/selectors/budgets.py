"""What a user may still use of a device today."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q

from leaderboard.models import Allowance, Spend
from leaderboard.selectors.days import refill_time, today
from runners.models import Device


@dataclass(frozen=True)
class Budget:
    """Device seconds of one user, device and UTC day."""

    allowance: float
    spent: float
    reserved: float  # held for queued and running work
    left: float  # never negative
    refills_at: datetime


def budget_of(user: User, device: Device) -> Budget:
    return budgets_of(user, [device])[device.pk]


def budgets_of(user: User, devices: Iterable[Device]) -> dict[int, Budget]:
    """Budgets by device id. Two queries."""
    devices = list(devices)
    day = today()
    spends = {
        spend.device_id: spend for spend in Spend.objects.filter(user=user, device__in=devices, day=day)
    }
    allowances = allowances_of(user, devices)
    return {device.pk: make_budget(allowances[device.pk], spends.get(device.pk), day) for device in devices}


def allowances_of(user: User, devices: Iterable[Device]) -> dict[int, float]:
    """Seconds a day by device id; of the rows that apply the most specific one counts."""
    devices = list(devices)
    rows = list(
        Allowance.objects.filter(
            Q(user=user) | Q(user__isnull=True), Q(device__in=devices) | Q(device__isnull=True)
        )
    )
    found: dict[int, float] = {}
    for device in devices:
        fitting = [row for row in rows if row.device_id in (None, device.pk)]
        # A row for the user outweighs one for the device: it was made for a reason that has a name.
        fitting.sort(key=lambda row: (row.user_id is None, row.device_id is None))
        found[device.pk] = float(fitting[0].seconds_per_day if fitting else settings.DEVICE_SECONDS_PER_DAY)
    return found


def make_budget(allowance: float, spend: Spend | None, day: date) -> Budget:
    spent = spend.spent_seconds if spend else 0.0
    reserved = spend.reserved_seconds if spend else 0.0
    return Budget(allowance, spent, reserved, max(0.0, allowance - spent - reserved), refill_time(day))
