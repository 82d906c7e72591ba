"""The journal and the money of a durable run. The journal is the truth; the run's row repeats its sums."""

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import ExpressionWrapper, F, Func, JSONField, Value
from django.utils import timezone

from leaderboard.search.llm.journal import Document, StepTaken
from leaderboard.search.llm.local import LocalPurse
from leaderboard.search.llm.models import JournalEntry
from leaderboard.search.models import RunStatus, SearchRun
from leaderboard.search.services.clock import wall_seconds
from leaderboard.search.services.log import lock
from leaderboard.search.services.owners import is_locked
from leaderboard.services import site_mode
from runners.contract.storable import storable_document
from surrogate.llm.ledger import OverBudget, Reservation, SpendLedger
from surrogate.services.spending import EXPIRES_AFTER

Kind = JournalEntry.Kind

#: After this a call without a reply is taken for dead: its deadline passed long ago.
LOST_AFTER = max(EXPIRES_AFTER, timedelta(minutes=10))


class DatabaseJournal:
    """``journal.Journal`` over the rows of one run. Each entry is a transaction of its own."""

    def __init__(self, run_id: UUID) -> None:
        self._run = run_id

    def entries(self) -> list[dict[str, Any]]:
        """Without prompts: they are most of a journal, pages alone show them, and each step reads it all."""
        rows = JournalEntry.objects.filter(run_id=self._run).order_by("pk")
        lean = Func(F("document"), Value("prompt"), template="(%(expressions)s)", arg_joiner=" - ")
        return [
            {**document, "kind": kind, "step": step}
            for kind, step, document in rows.values_list(
                "kind", "step", ExpressionWrapper(lean, output_field=JSONField())
            )
        ]

    def add(self, kind: str, step: str, document: Document) -> None:
        """The run's sums change with the entry.

        Raises StepTaken for an entry that is there already, and for a question once the run is paused, has
        ended, is out of time, or the site is read-only: a generation takes many calls, and none is made then.
        """
        try:
            with transaction.atomic():
                JournalEntry.objects.create(
                    run_id=self._run, kind=kind, step=step, document=storable_document(document)
                )
                if kind == Kind.ASKED:
                    self._reserve(step, document)
                elif kind == Kind.REPLIED:
                    self._settle(step, document)
        except IntegrityError:
            raise StepTaken(step) from None

    def again(self, step: str, bound: Decimal, tokens: int) -> None:
        """Called in a thread of its own, whose connection goes back."""
        try:
            with transaction.atomic():
                asked = JournalEntry.objects.select_for_update().get(
                    run_id=self._run, kind=Kind.ASKED, step=step
                )
                asked.document["bound"] = str(Decimal(asked.document["bound"]) + bound)
                asked.document["tokens_bound"] += tokens
                asked.save(update_fields=["document"])
                self._set_aside(bound, tokens)
        finally:
            connection.close()

    def is_lost(self, step: str) -> bool:
        """Once it is, what it may have cost is booked, so that a dead process holds no money back."""
        asked = JournalEntry.objects.filter(run_id=self._run, kind=Kind.ASKED, step=step).first()
        if asked is None or asked.created_at > timezone.now() - LOST_AFTER:
            return False
        lost = {"cost": asked.document["bound"], "tokens": asked.document["tokens_bound"], "seconds": 0.0}
        message = "the process that asked has ended"
        self.add(Kind.REPLIED, step, {**lost, "attempts": [], "result": "cancelled", "message": message})
        return True

    def _reserve(self, step: str, document: Document) -> None:
        run = lock(self._run)
        is_over = run.status != RunStatus.RUNNING or wall_seconds(run) >= run.wall_seconds_limit
        if is_over or is_locked(run) or not site_mode.is_open():
            raise StepTaken(step)
        self._set_aside(Decimal(document["bound"]), int(document["tokens_bound"]))

    def _set_aside(self, bound: Decimal, tokens: int) -> None:
        SearchRun.objects.filter(pk=self._run).update(
            money_reserved=F("money_reserved") + float(bound), tokens_reserved=F("tokens_reserved") + tokens
        )

    def _settle(self, step: str, document: Document) -> None:
        asked = JournalEntry.objects.get(run_id=self._run, kind=Kind.ASKED, step=step).document
        rows = SearchRun.objects.filter(pk=self._run)
        rows.update(
            money_reserved=F("money_reserved") - float(asked["bound"]),
            money_spent=F("money_spent") + float(document["cost"]),
            tokens_reserved=F("tokens_reserved") - int(asked["tokens_bound"]),
            tokens_spent=F("tokens_spent") + int(document["tokens"]),
        )
        # Floating sums drift by rounding: nothing is reserved when nothing is under way.
        rows.filter(tokens_reserved=0).update(money_reserved=0)


class RunLedger:
    """Reserves twice for every call: of the run's money, and of the site's for the day."""

    def __init__(self, run: SpendLedger, site: SpendLedger) -> None:
        self._run, self._site = run, site
        self._pairs: dict[str, Reservation] = {}
        self.site_refused = ""

    async def reserve(self, amount: Decimal, *, purpose: str) -> Reservation:
        """Raises OverBudget; ``site_refused`` tells whether it was the site's money that did not suffice."""
        mine = await self._run.reserve(amount, purpose=purpose)
        try:
            theirs = await self._site.reserve(amount, purpose=purpose)
        except BaseException as error:
            await self._run.settle(mine, Decimal(0))
            if isinstance(error, OverBudget):
                self.site_refused = str(error)
            raise
        self._pairs[mine.id] = theirs
        return mine

    async def settle(self, reservation: Reservation, spent: Decimal) -> None:
        await self._run.settle(reservation, spent)
        await self._site.settle(self._pairs.pop(reservation.id), spent)


def purse_of(run: SearchRun) -> LocalPurse:
    """What is left of a run's own money and tokens, calls under way counted as spent."""
    return LocalPurse(
        Decimal(str(run.money_limit)),
        run.tokens_limit,
        Decimal(str(run.money_spent + run.money_reserved)),
        run.tokens_spent + run.tokens_reserved,
    )
