"""The spend ledger: one limit for all processes, each reservation counted once, none lost."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from threading import Event

import pytest
from django.db import connection, transaction
from django.utils import timezone

from surrogate.llm.ledger import OverBudget, SpendLedger
from surrogate.models import SpendDay, SpendReservation
from surrogate.services.spending import DatabaseLedger, book_expired, daily_limit, reserve, settle, today

LIMIT = Decimal(1)


def held() -> tuple[Decimal, Decimal]:
    row = SpendDay.objects.get(day=today())
    return row.reserved_usd, row.spent_usd


@pytest.mark.django_db
def test_money_is_reserved_and_then_booked_as_it_was_spent() -> None:
    first = reserve(amount=Decimal("0.6"), purpose="a", limit=LIMIT)
    with pytest.raises(OverBudget, match=r"\$1\.00 only \$0\.4000 is left"):
        reserve(amount=Decimal("0.5"), purpose="b", limit=LIMIT)
    assert settle(reservation_id=first.id, spent=Decimal("0.1"))
    assert held() == (0, Decimal("0.1"))
    reserve(amount=Decimal("0.9"), purpose="c", limit=LIMIT)
    assert held() == (Decimal("0.9"), Decimal("0.1"))


@pytest.mark.django_db
def test_a_reservation_counts_once() -> None:
    reservation = reserve(amount=Decimal("0.5"), purpose="a", limit=LIMIT)
    assert settle(reservation_id=reservation.id, spent=Decimal("0.2"))
    assert not settle(reservation_id=reservation.id, spent=Decimal("0.2"))
    assert held() == (0, Decimal("0.2"))


@pytest.mark.django_db
def test_what_a_dead_process_reserved_is_booked_whole() -> None:
    lost = reserve(amount=Decimal("0.7"), purpose="a", limit=LIMIT)
    SpendReservation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(OverBudget):
        reserve(amount=Decimal("0.5"), purpose="b", limit=LIMIT)
    assert book_expired() == 1  # the refused call's transaction took its own booking back
    assert held() == (0, Decimal("0.7"))
    assert not settle(reservation_id=lost.id, spent=Decimal("0.1"))


@pytest.mark.django_db
def test_many_small_calls_do_not_cost_nothing() -> None:
    reservation = reserve(amount=Decimal("0.00000001"), purpose="a", limit=LIMIT)
    settle(reservation_id=reservation.id, spent=Decimal("0.00000001"))
    assert held() == (0, Decimal("0.000001"))


@pytest.mark.django_db(transaction=True)
def test_calls_in_flight_cannot_overspend_together() -> None:
    def attempt(number: int) -> bool:
        try:
            reserve(amount=Decimal("0.3"), purpose=str(number), limit=LIMIT)
        except OverBudget:
            return False
        else:
            return True
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(16))) == 3
    assert held() == (Decimal("0.9"), 0)


@pytest.mark.django_db(transaction=True)
def test_a_call_that_is_booked_while_its_money_expires_holds_nobody_up() -> None:
    """It holds its reservation and waits for the day, which whoever books what expired may hold."""
    lost, late = (reserve(amount=Decimal("0.2"), purpose=name, limit=LIMIT) for name in ("lost", "late"))
    SpendReservation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    is_held, is_reserved = Event(), Event()

    def book_late() -> bool:
        try:
            with transaction.atomic():
                SpendReservation.objects.select_for_update().get(pk=late.id)
                is_held.set()
                is_reserved.wait()
                return settle(reservation_id=late.id, spent=Decimal("0.05"))
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        booked = pool.submit(book_late)
        is_held.wait()
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '3s'")
                reserve(amount=Decimal("0.3"), purpose="new", limit=LIMIT)
        finally:
            is_reserved.set()
        assert booked.result()
    assert held() == (Decimal("0.3"), Decimal("0.25"))
    assert not settle(reservation_id=lost.id, spent=Decimal(0))


@pytest.mark.django_db(transaction=True)
def test_a_client_can_use_it_as_any_ledger() -> None:
    ledger: SpendLedger = DatabaseLedger(LIMIT)

    async def call() -> None:
        reservation = await ledger.reserve(Decimal("0.5"), purpose="a call")
        await ledger.settle(reservation, Decimal("0.25"))

    asyncio.run(call())
    assert held() == (0, Decimal("0.25"))


@pytest.mark.parametrize(("text", "limit"), [("", 5), ("2.50", Decimal("2.5")), ("0", 0)])
def test_the_limit_is_an_amount(text: str, limit: Decimal) -> None:
    assert daily_limit({"KERNELHUB_CLAUDE_LIMIT_USD": text}) == limit


@pytest.mark.parametrize("text", ["five", "-1", "nan", "inf"])
def test_any_other_limit_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=f"KERNELHUB_CLAUDE_LIMIT_USD: '{text}'"):
        daily_limit({"KERNELHUB_CLAUDE_LIMIT_USD": text})
