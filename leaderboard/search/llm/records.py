"""What was worth it over all runs: verifiers' words, per verifier, model and task family, and examples."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import F

from leaderboard.search.llm.examples import Use, gained
from leaderboard.search.llm.models import ExampleUse, JournalEntry, VerifierRecord
from leaderboard.search.llm.votes import LEAST_PRECISION, Record, Verifier, Vote, lower_bound
from leaderboard.search.models import SearchRun


def note_outcome(*, run: SearchRun, digest: str, verdict: str, log2_seconds: float | None) -> None:
    """Count a measured kernel with its votes and examples, in the transaction that takes in its outcome.

    That happens once for each candidate, so nothing counts twice. The records are the last rows that the
    transaction locks: votes in the order of the steps, which is the same for all kernels, then examples in
    that of their keys.
    """
    _note_votes(run, digest, verdict)
    _note_examples(run, digest, log2_seconds)


def _note_votes(run: SearchRun, digest: str, verdict: str) -> None:
    votes = JournalEntry.objects.filter(run=run, kind=JournalEntry.Kind.VOTED, document__digest=digest)
    for document in votes.order_by("step").values_list("document", flat=True):
        if not document.get("model"):
            continue  # from before votes were told apart by model
        counted = Record()
        counted.add(Vote(Verifier(document["verifier"]), bool(document["fails"])), verdict)
        row, _ = VerifierRecord.objects.get_or_create(
            verifier=document["verifier"], model=document["model"], family=run.version.task.slug
        )
        VerifierRecord.objects.filter(pk=row.pk).update(
            warned=F("warned") + counted.warned,
            right=F("right") + counted.right,
            due=F("due") + counted.due,
            caught=F("caught") + counted.caught,
        )


def _note_examples(run: SearchRun, digest: str, log2_seconds: float | None) -> None:
    used = JournalEntry.objects.filter(run=run, kind=JournalEntry.Kind.USED, document__digest=digest)
    entry = used.filter(document__fault="").order_by("pk").first()
    if entry is None:
        return
    asked = JournalEntry.objects.filter(run=run, kind=JournalEntry.Kind.ASKED, step=entry.step).first()
    shown = asked.document.get("examples", []) if asked is not None else []
    helped = gained(log2_seconds, entry.document["base"])
    for key in sorted(shown):
        ExampleUse.objects.get_or_create(key=key)
        ExampleUse.objects.filter(key=key).update(shown=F("shown") + 1, helped=F("helped") + int(helped))


def uses_over_runs(keys: Iterable[str]) -> dict[str, Use]:
    """Of those examples that were ever shown. One query."""
    rows = ExampleUse.objects.filter(key__in=list(keys))
    return {row.key: Use(row.shown, row.helped) for row in rows}


def records_of_model(model: str, family: str) -> dict[Verifier, Record]:
    """One query; verifiers without a record have an empty one."""
    found = {verifier: Record() for verifier in Verifier}
    for row in VerifierRecord.objects.filter(model=model, family=family):
        found[Verifier(row.verifier)] = Record(row.warned, row.right, row.due, row.caught)
    return found


@dataclass(frozen=True)
class Standing:
    """Of one verifier as a run's page tells it. ``floor`` is the lower 95 % bound of its precision."""

    verifier: Verifier
    model: str
    record: Record
    floor: float

    @property
    def is_obeyed(self) -> bool:
        """Whether its word refuses a kernel by now."""
        return self.floor >= LEAST_PRECISION


def standings_of(run: SearchRun) -> list[Standing]:
    """The records that the run goes by, empty where nobody reads its kernels. Two queries."""
    setups = JournalEntry.objects.filter(run=run, kind=JournalEntry.Kind.SETUP)
    model = next(iter(setups.values_list("document__verifiers", flat=True)), None)
    if model in (None, "none"):
        return []
    records = records_of_model(str(model), run.version.task.slug)
    return [
        Standing(verifier, str(model), record, lower_bound(record.right, record.warned))
        for verifier, record in records.items()
    ]
