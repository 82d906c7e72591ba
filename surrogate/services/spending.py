"""The spend ledger in PostgreSQL: all processes of the site share one limit per UTC day.

Money is reserved by a conditional UPDATE, so that calls in flight cannot overspend together, and settled by
another one, so that each reservation counts once. A reservation whose process died is booked whole when it
expires: the call may have cost that much.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from datetime import UTC, date, timedelta
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import TypeVar

from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from surrogate.llm.ledger import OverBudget, Reservation
from surrogate.models import SpendDay, SpendReservation

T = TypeVar("T")

_CENTS = Decimal("0.000001")  # what the tables hold; rounded up, so that many small calls do not cost nothing

#: US dollars a day when nobody says otherwise.
DEFAULT_LIMIT = Decimal(5)
#: No call lasts as long; past it the process that reserved is taken for dead.
EXPIRES_AFTER = timedelta(minutes=10)


def daily_limit(environ: Mapping[str, str] = os.environ) -> Decimal:
    """KERNELHUB_CLAUDE_LIMIT_USD. Raises ValueError for what is no amount."""
    text = environ.get("KERNELHUB_CLAUDE_LIMIT_USD", "").strip()
    try:
        limit = Decimal(text) if text else DEFAULT_LIMIT
    except InvalidOperation:
        limit = Decimal(-1)
    if not (limit.is_finite() and limit >= 0):
        raise ValueError(f"KERNELHUB_CLAUDE_LIMIT_USD: {text!r} is not an amount of US dollars")
    return limit


def today() -> date:
    return timezone.now().astimezone(UTC).date()


@transaction.atomic
def reserve(*, amount: Decimal, purpose: str, limit: Decimal | None) -> Reservation:
    """Set ``amount`` aside of today's money. Raises OverBudget when it does not fit."""
    book_expired()
    amount = amount.quantize(_CENTS, ROUND_CEILING)
    spend, _ = SpendDay.objects.get_or_create(day=today())
    rows = SpendDay.objects.filter(pk=spend.pk)
    if limit is not None:
        rows = rows.filter(reserved_usd__lte=limit - amount - F("spent_usd"))
    if not rows.update(reserved_usd=F("reserved_usd") + amount):
        spend.refresh_from_db()
        left = max(Decimal(0), (limit or Decimal(0)) - spend.reserved_usd - spend.spent_usd)
        raise OverBudget(
            f"a call may cost ${amount:.4f}, but of today's ${limit:.2f} only ${left:.4f} is left"
        )
    row = SpendReservation.objects.create(
        spend=spend, amount_usd=amount, purpose=purpose[:200], expires_at=timezone.now() + EXPIRES_AFTER
    )
    return Reservation(str(row.pk), amount, purpose)


@transaction.atomic
def settle(*, reservation_id: str, spent: Decimal) -> bool:
    """Give a reservation back and book ``spent``; False when it was settled before, or had expired."""
    row = SpendReservation.objects.filter(pk=reservation_id).first()
    return row is not None and _close(row, spent)


@transaction.atomic
def book_expired() -> int:
    """Book whole what dead processes had reserved; returns how many reservations.

    All are locked before any day is, and days in one order, as everywhere: whoever books one of them at
    this moment holds it and waits for its day, which would be a deadlock. Those are skipped.
    """
    expired = SpendReservation.objects.filter(settled_at=None, expires_at__lt=timezone.now())
    rows = list(expired.select_for_update(skip_locked=True, of=("self",)).order_by("spend__day", "pk"))
    return sum(_close(row, row.amount_usd) for row in rows)


def _close(row: SpendReservation, spent: Decimal) -> bool:
    spent = spent.quantize(_CENTS, ROUND_CEILING)
    open_still = SpendReservation.objects.filter(pk=row.pk, settled_at=None)
    if not open_still.update(settled_at=timezone.now(), spent_usd=spent):
        return False
    # Booked on the day it was reserved, whenever it ends: that day's limit made room for it.
    SpendDay.objects.filter(pk=row.spend_id).update(
        reserved_usd=F("reserved_usd") - row.amount_usd, spent_usd=F("spent_usd") + spent
    )
    return True


class DatabaseLedger:
    """``surrogate.llm.ledger.SpendLedger`` over the tables. ``limit`` is US dollars a UTC day."""

    def __init__(self, limit: Decimal | None) -> None:
        self.limit = limit

    async def reserve(self, amount: Decimal, *, purpose: str) -> Reservation:
        return await asyncio.to_thread(
            _in_thread, lambda: reserve(amount=amount, purpose=purpose, limit=self.limit)
        )

    async def settle(self, reservation: Reservation, spent: Decimal) -> None:
        await asyncio.to_thread(_in_thread, lambda: settle(reservation_id=reservation.id, spent=spent))


def _in_thread(act: Callable[[], T]) -> T:
    """The thread is a loop's own and lives as long as that; its connection must not outlive the call."""
    try:
        return act()
    finally:
        connection.close()
