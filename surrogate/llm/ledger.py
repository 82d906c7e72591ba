"""Money is reserved before a call and settled after it, so that calls in flight cannot overspend together."""

import threading
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol
from uuid import uuid4


class OverBudget(Exception):
    """The reservation would go past the limit; the message names both amounts."""


@dataclass(frozen=True)
class Reservation:
    """Money set aside for one call."""

    id: str
    amount: Decimal  # US dollars
    purpose: str


class SpendLedger(Protocol):
    """What a Claude client needs of a ledger. Each reservation is settled exactly once.

    A call that was lost (connection cut, deadline, cancel) is settled with the amount it may have cost. The
    true cost of a call may exceed its reservation; it is booked all the same.
    """

    async def reserve(self, amount: Decimal, *, purpose: str) -> Reservation:
        """Set ``amount`` aside. Raises OverBudget when it does not fit."""
        ...

    async def settle(self, reservation: Reservation, spent: Decimal) -> None:
        """Give the reservation back and book ``spent``."""
        ...


class MemoryLedger:
    """A ledger for one process. ``limit`` is US dollars; None never refuses."""

    def __init__(self, limit: Decimal | None) -> None:
        self.limit = limit
        self._lock = threading.Lock()  # forecasters are called from several threads
        self._open: dict[str, Reservation] = {}
        self._spent = Decimal(0)

    @property
    def spent(self) -> Decimal:
        return self._spent

    @property
    def reserved(self) -> Decimal:
        with self._lock:
            return sum((item.amount for item in self._open.values()), Decimal(0))

    async def reserve(self, amount: Decimal, *, purpose: str) -> Reservation:
        with self._lock:
            held = self._spent + sum((item.amount for item in self._open.values()), Decimal(0))
            if self.limit is not None and held + amount > self.limit:
                raise OverBudget(
                    f"a call may cost ${amount:.4f}, but of ${self.limit:.2f} only "
                    f"${max(Decimal(0), self.limit - held):.4f} is left"
                )
            reservation = Reservation(str(uuid4()), amount, purpose)
            self._open[reservation.id] = reservation
            return reservation

    async def settle(self, reservation: Reservation, spent: Decimal) -> None:
        with self._lock:
            if self._open.pop(reservation.id, None) is None:
                raise ValueError(f"reservation {reservation.id} is not open")
            self._spent += spent
