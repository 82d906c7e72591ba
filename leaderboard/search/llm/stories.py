"""What a language model had to do with a candidate, for those who may see its run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, FloatField, IntegerField, OuterRef, Subquery, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast

from leaderboard.search.llm.condensing import findings_of, step_of
from leaderboard.search.llm.models import JournalEntry
from leaderboard.search.llm.replies import Fault
from leaderboard.search.models import SearchRun

Kind = JournalEntry.Kind


@dataclass(frozen=True)
class Story:
    """``prompt`` is what was asked for this kernel alone; what all of a run's prompts share is left out."""

    model: str
    operator: str
    prompt: str
    reply: str
    idea: str
    dollars: float  # of the call that wrote it
    seconds: float
    votes: tuple[Mapping[str, Any], ...]  # "verifier", "fails", "reason"; "first": it had doubted at first
    reading_dollars: float = 0.0  # of the verifiers' calls

    @property
    def total_dollars(self) -> float:
        return self.dollars + self.reading_dollars


def story_of(run: SearchRun, digest: str) -> Story | None:
    """None for kernels that no model wrote. Four queries; whoever asks has been let to see the run."""
    used = JournalEntry.objects.filter(run=run, kind=Kind.USED, document__digest=digest).first()
    if used is None:
        return None
    of_step = JournalEntry.objects.filter(run=run, step=used.step, kind__in=(Kind.ASKED, Kind.REPLIED))
    documents = {row.kind: row.document for row in of_step}
    asked, replied = documents.get(Kind.ASKED, {}), documents.get(Kind.REPLIED, {})
    votes = JournalEntry.objects.filter(run=run, kind=Kind.VOTED, document__digest=digest).order_by("pk")
    readings = JournalEntry.objects.filter(run=run, kind=Kind.REPLIED, step__startswith=f"{used.step}.")
    return Story(
        model=str(replied.get("model", asked.get("arm", ""))),
        operator=str(asked.get("operator", "")),
        prompt=str(asked.get("prompt", "")),
        reply=str(replied.get("text", "")),
        idea=str(used.document.get("idea", "")),
        dollars=float(replied.get("cost", 0)),
        seconds=float(replied.get("seconds", 0)),
        votes=tuple(row.document for row in votes),
        reading_dollars=sum(float(cost or 0) for cost in readings.values_list("document__cost", flat=True)),
    )


def findings_of_candidate(run: SearchRun, digest: str) -> str:
    """The condensed profile that prompts show with a kernel, the starter's too. One query."""
    replied = JournalEntry.objects.filter(run=run, kind=Kind.REPLIED, step=step_of(digest)).first()
    return findings_of(replied.document.get("data")) if replied else ""


def profile_of_candidate(run: SearchRun, digest: str) -> Mapping[str, Any] | None:
    """What a profiler said of it, None where none has looked. One query."""
    results = run.profiles.filter(digest=digest).values_list("evaluation__result", flat=True)
    found: Mapping[str, Any] | None = (results.first() or {}).get("profile")
    return found


#: What an answer without a kernel is called on pages.
_FAULTS: dict[str, str] = {
    Fault.REFUSED: "declined",
    Fault.TRUNCATED: "cut off",
    Fault.PROVIDER: "never came",
    Fault.EMPTY: "empty",
    Fault.NO_CODE: "without one code block",
    Fault.BAD_EDIT: "edits that do not fit",
    Fault.REJECTED: "no source that the task takes",
    Fault.KNOWN: "a kernel known before",
    Fault.ALIKE: "all but a kernel known before",
    Fault.VETOED: "refused on a verifier’s word",
}


def without_kernel(run: SearchRun) -> list[tuple[str, int]]:
    """(why, how many) of the answers that gave no kernel, most first. One query."""
    used = JournalEntry.objects.filter(run=run, kind=Kind.USED).exclude(document__fault="")
    counts = used.values(why=KT("document__fault")).annotate(number=Count("pk")).order_by("-number", "why")
    return [(_FAULTS.get(row["why"], row["why"]), row["number"]) for row in counts if row["why"]]


@dataclass(frozen=True)
class Spent:
    """Of one model with its effort; calls that gave no kernel are counted."""

    arm: str
    calls: int
    dollars: float
    tokens: int


def spend_by_model(run: SearchRun) -> list[Spent]:
    """Dearest first. One query, summed by the database: each watcher asks for it whenever the run goes on."""
    asked = JournalEntry.objects.filter(run=run, kind=Kind.ASKED, step=OuterRef("step"))
    replied = JournalEntry.objects.filter(run=run, kind=Kind.REPLIED)
    rows = (
        replied.annotate(arm=Subquery(asked.annotate(name=KT("document__arm")).values("name")[:1]))
        .values("arm")
        .annotate(
            calls=Count("pk"),
            dollars=Sum(Cast(KT("document__cost"), FloatField())),
            tokens=Sum(Cast(KT("document__tokens"), IntegerField())),
        )
        .order_by("-dollars", "arm")
    )
    return [Spent(**row) for row in rows]
