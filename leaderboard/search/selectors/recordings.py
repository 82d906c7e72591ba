"""A run as a pool of candidates, for a file that can be searched again."""

import gzip
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from django.db.models import Sum
from django.db.models.functions import Length

from leaderboard.connections import give_back
from leaderboard.search.generators.base import Operator, Proposal
from leaderboard.search.models import SearchCandidate, SearchEvent, SearchRun
from leaderboard.search.recordings import Recorded, recording_lines
from surrogate.contract.request import KernelText

Status = SearchCandidate.Status

#: Rows read at a time, and events, each of which tells of all candidates of a generation.
_ROWS, _EVENTS = 200, 8
#: Characters of sources that a web process packs; more is for the command.
MOST_CHARACTERS = 64 * 2**20


def recording_of(run: SearchRun) -> Iterator[str]:
    """The lines of the run's file. Between two reads no database connection is kept."""
    return recording_lines(_about(run), _candidates(run))


def is_large(run: SearchRun) -> bool:
    total = run.candidates.aggregate(total=Sum(Length("kernel__source")))["total"]
    return (total or 0) > MOST_CHARACTERS


def packed(run: SearchRun) -> bytes:
    """The file, gzip; for runs that are not large. Never held unpacked as a whole."""
    found = BytesIO()
    with gzip.GzipFile(fileobj=found, mode="wb", compresslevel=6, mtime=0) as file:
        for line in recording_of(run):
            file.write(line.encode())
    return found.getvalue()


def _about(run: SearchRun) -> dict[str, Any]:
    return {
        "run": str(run.pk),
        "task": run.version.task.slug,
        "version": run.version.number,
        "spec": run.spec_digest,
        "device": run.device.slug,
        "generator": run.generator,
        "language": run.language,
        "plan": run.plan,
    }


def _candidates(run: SearchRun) -> Iterator[Recorded]:
    cells = _cells(run)
    rows = run.candidates.order_by("number").select_related("kernel", "evaluation")
    rows = rows.defer("evaluation__result", "evaluation__progress")
    last = -1
    while found := list(rows.filter(number__gt=last)[:_ROWS]):
        give_back()
        last = found[-1].number
        yield from (_recorded(row, cells[row.digest]) for row in found if row.digest in cells)


def _recorded(row: SearchCandidate, cell: tuple[str, ...]) -> Recorded:
    kernel = KernelText(row.kernel.language, row.kernel.source, row.parameters)
    return Recorded(
        Proposal(row.digest, kernel, Operator(row.operator), tuple(row.parents), cell),
        row.status in (Status.MEASURED, Status.FAILED),
        row.seconds,
        row.evaluation.verdict if row.evaluation else "",
        row.action,
        row.generation,
    )


def _cells(run: SearchRun) -> dict[str, tuple[str, ...]]:
    """What kind of kernel each candidate is: only the log tells. What comes after this is left out."""
    found: dict[str, tuple[str, ...]] = {}
    rows = run.events.filter(kind=SearchEvent.Kind.GENERATION).order_by("seq").values_list("seq", "document")
    last = 0
    while events := list(rows.filter(seq__gt=last)[:_EVENTS]):
        give_back()
        last = events[-1][0]
        found |= {item["digest"]: tuple(item["cell"]) for _, document in events for item in document["new"]}
    return found
