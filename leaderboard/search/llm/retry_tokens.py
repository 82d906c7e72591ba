"""A call's attempts and the tokens of its search: each attempt beyond the first sets its own aside.

What an attempt that was lost on the way had been billed nobody says, so it counts with its bound. The next
attempt needs as many again; where they do not fit the limit, it is not made. It is noted first, so that a
process that dies now leaves no attempt that nobody knows of.
"""

import asyncio
import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Protocol

from surrogate.llm.ledger import OverBudget, Reservation, SpendLedger


class Tokens(Protocol):
    def reserve_tokens(self, count: int) -> bool: ...


class RetryTokens:
    """A ledger for one call over the search's own; ``each`` tokens are set aside for its first attempt.

    ``note`` notes another attempt; it may ask a database. Once ``closing`` is set no attempt is begun: hardly
    one would be answered before its process is gone.
    """

    def __init__(
        self,
        ledger: SpendLedger,
        purse: Tokens,
        each: int,
        note: Callable[[], None],
        closing: threading.Event,
    ) -> None:
        self._ledger, self._purse, self._each, self._note = ledger, purse, each, note
        self._closing = closing
        self._free = 1  # attempts that are set aside and not used
        #: All that is set aside for the call by now.
        self.reserved = each
        #: Whether an attempt was not made because the process is to end.
        self.is_closed = False

    async def reserve(self, amount: Decimal, *, purpose: str) -> Reservation:
        """Raises OverBudget for the money as for the tokens, and once the process is to end."""
        if self._closing.is_set():
            self.is_closed = True
            raise OverBudget("the process is to end")
        if not self._free:
            if not self._purse.reserve_tokens(self._each):
                raise OverBudget("the tokens of the search do not suffice for another attempt")
            self.reserved += self._each
            self._free += 1
            await asyncio.to_thread(self._note)
        reservation = await self._ledger.reserve(amount, purpose=purpose)
        self._free -= 1
        return reservation

    async def settle(self, reservation: Reservation, spent: Decimal) -> None:
        if not spent:
            self._free += 1  # it was refused and used none: the next attempt has its tokens
        await self._ledger.settle(reservation, spent)
