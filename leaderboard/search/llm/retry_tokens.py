"""A call's attempts and the tokens of its search: each attempt beyond the first sets its own aside.

What an attempt that was lost on the way had been billed nobody says, so it counts with its bound. The next
attempt needs as many again; where they do not fit the limit, it is not made. It is noted first, so that a
process that dies now leaves no attempt that nobody knows of.
"""

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import Protocol

from surrogate.llm.ledger import OverBudget, Reservation, SpendLedger


class Tokens(Protocol):
    def reserve_tokens(self, count: int) -> bool: ...


class RetryTokens:
    """A ledger for one call over the search's own; ``each`` tokens are set aside for its first attempt.

    ``note`` notes another attempt; it may ask a database.
    """

    def __init__(self, ledger: SpendLedger, purse: Tokens, each: int, note: Callable[[], None]) -> None:
        self._ledger, self._purse, self._each, self._note = ledger, purse, each, note
        self._free = 1  # attempts that are set aside and not used
        #: All that is set aside for the call by now.
        self.reserved = each

    async def reserve(self, amount: Decimal, *, purpose: str) -> Reservation:
        """Raises OverBudget for the money as for the tokens."""
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
