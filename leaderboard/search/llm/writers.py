"""The generator of a durable run, made of its rows: setup, journal, money, outcomes, and kernels to show."""

import math
import os
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from uuid import UUID

from django.db.models import F, OuterRef, QuerySet, Subquery, Window
from django.db.models.functions import RowNumber

from leaderboard.models import Baseline, Score, Standing
from leaderboard.search.documents import plan_from
from leaderboard.search.generators.base import Parent
from leaderboard.search.llm.affording import pays_for_findings
from leaderboard.search.llm.briefs import brief_of, formed_brief
from leaderboard.search.llm.condensing import readable
from leaderboard.search.llm.database import DatabaseJournal, RunLedger, purse_of
from leaderboard.search.llm.desk import Desk
from leaderboard.search.llm.examples import Example
from leaderboard.search.llm.generator import LlmGenerator
from leaderboard.search.llm.models import JournalEntry
from leaderboard.search.llm.outcomes import Outcome, read_outcome
from leaderboard.search.llm.pens import Pen
from leaderboard.search.llm.records import records_of_model, uses_over_runs
from leaderboard.search.llm.setup import setup
from leaderboard.search.models import SearchCandidate, SearchRun
from leaderboard.search.plan import Policy
from leaderboard.selectors.specs import spec_of
from runners.contract.vocabulary import Verdict
from surrogate.contract.request import KernelText
from surrogate.llm.clock import Clock
from surrogate.llm.config import Config
from surrogate.services.spending import DatabaseLedger, daily_limit

Status = SearchCandidate.Status

#: Ranked kernels that are looked through for examples: the first of each board, then the second of each …
_MOST_EXAMPLES = 200
#: Of one board: a task that many people enter must not hide what the others teach.
_MOST_OF_A_BOARD = 8


class Writer:
    """Lives as long as its process; money is counted anew at each step, for its limit may be raised."""

    def __init__(
        self,
        config: Config | None = None,
        environ: Mapping[str, str] = os.environ,
        clock: Clock | None = None,
        closing: threading.Event | None = None,
    ) -> None:
        """``closing``: as the desk has it."""
        self._config = config or Config.from_environment(environ)
        self._limit = daily_limit(environ)
        self._clock, self._closing = clock, closing
        self._outcomes: dict[str, Outcome] = {}
        self._generator: LlmGenerator | None = None
        self._ledger: RunLedger | None = None

    def generator(self, run: SearchRun, pen: Pen) -> LlmGenerator:
        """The generator with what is known by now: outcomes and what is left of the money."""
        self._learn(run)
        purse = purse_of(run)
        self._ledger = RunLedger(purse.ledger, DatabaseLedger(self._limit))
        desk = Desk(self._config, self._ledger, purse, clock=self._clock, closing=self._closing)
        if self._generator is None:
            self._generator = self._make(run, pen, desk)
        self._generator.desk = desk
        return self._generator

    def pays_for_findings(self, run: SearchRun, parent: Parent) -> bool:
        """As ``affording`` has it, of what the calls of this step have left. After ``generator``."""
        of = self._generator
        return of is not None and pays_for_findings(formed_brief(run), of.arms, parent, of.desk.left)

    @property
    def site_refused(self) -> str:
        """Why the site's own money for the day refused a call, empty where it did not."""
        return self._ledger.site_refused if self._ledger else ""

    def _make(self, run: SearchRun, pen: Pen, desk: Desk) -> LlmGenerator:
        noted = JournalEntry.objects.get(run=run, kind=JournalEntry.Kind.SETUP).document
        chosen = setup(noted["models"], noted["verifiers"], self._config)
        plan = plan_from(run.plan)
        library = library_of(run, pen)
        return LlmGenerator(
            brief_of(run, pen),
            chosen.arms,
            desk,
            DatabaseJournal(run.pk),
            self._outcomes.get,
            seed=plan.seed,
            library=library,
            verify=chosen.verify,
            independent=plan.policy == Policy.RANDOM,
            records=partial(records_of_model, chosen.verify.name, run.version.task.slug)
            if chosen.verify
            else None,
            uses=partial(uses_over_runs, [item.key for item in library]),
            shown=partial(still_shared, run, pen),
            profiles=partial(profile_of, run),
        )

    def _learn(self, run: SearchRun) -> None:
        """Read the outcomes that came since; one query."""
        rows = run.candidates.filter(status__in=(Status.MEASURED, Status.FAILED), evaluation__isnull=False)
        for digest, result in rows.exclude(digest__in=self._outcomes).values_list(
            "digest", "evaluation__result"
        ):
            self._outcomes[digest] = read_outcome(result or {})


def profile_of(run: SearchRun, digest: str) -> str:
    """What the profile-mode run of a candidate said, empty unless it has passed."""
    passed = run.profiles.filter(digest=digest, evaluation__verdict=Verdict.PASSED)
    return readable(passed.values_list("evaluation__result", flat=True).first() or {})


def library_of(run: SearchRun, pen: Pen) -> list[Example]:
    """The fastest ranked kernels of each task whose authors let others read them. One query."""
    place = Window(
        RowNumber(), partition_by=[F("version_id"), F("device_id")], order_by=[F("seconds"), F("pk")]
    )
    eager = Score.objects.filter(
        version=OuterRef("version"), device=OuterRef("device"), baseline=Baseline.EAGER
    ).order_by("-created_at")
    rows = (
        _shared(run, pen)
        .annotate(place=place)
        .filter(place__lte=_MOST_OF_A_BOARD)
        .annotate(eager=Subquery(eager.values("seconds")[:1]))
        .select_related("submission__kernel", "version__task", "version__spec", "device")
        .order_by("place", "-created_at")[:_MOST_EXAMPLES]
    )
    return [
        Example(
            str(row.submission_id),
            row.version.task.slug,
            spec_of(row.version).reference,
            KernelText(row.submission.kernel.language, row.submission.kernel.source),
            f"{row.seconds * 1e6:.4g} µs on {row.device.name}",
            math.log2(row.eager / row.seconds) if row.eager else 0.0,
        )
        for row in rows
    ]


def still_shared(run: SearchRun, pen: Pen, library: Sequence[Example]) -> list[Example]:
    """Without those that were withdrawn, deleted or taken off the board since they were read. One query."""
    keys = [UUID(item.key) for item in library]
    rows = _shared(run, pen).filter(submission__in=keys).values_list("submission", flat=True)
    known = {str(key) for key in rows} if keys else set()
    return [item for item in library if item.key in known]


def _shared(run: SearchRun, pen: Pen) -> QuerySet[Score]:
    """What a prompt may show.

    The owner's private ones are left out too: who may watch the run, now or later, may read its prompts.
    """
    return Score.objects.filter(
        submission__is_public=True,
        baseline="",
        standing=Standing.RANKED,
        device__kind=run.device.kind,
        submission__kernel__language=str(pen.language),
    )
