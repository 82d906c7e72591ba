"""A run as a pool of candidates, for a file that can be searched again."""

import gzip
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from django.db.models import Sum
from django.db.models.functions import Length

from leaderboard.search.generators.base import Operator, Proposal
from leaderboard.search.models import SearchCandidate, SearchEvent, SearchRun
from leaderboard.search.recordings import Recorded, recording_lines
from surrogate.contract.request import KernelText

Status = SearchCandidate.Status

#: Characters of sources that a web process packs; more is for the command.
MOST_CHARACTERS = 64 * 2**20


def recording_of(run: SearchRun) -> Iterator[str]:
    """The lines of the run's file, its candidates read a few hundred at a time."""
    return recording_lines(_about(run), _candidates(run))


def is_large(run: SearchRun) -> bool:
    total = run.candidates.aggregate(total=Sum(Length("kernel__source")))["total"]
    return (total or 0) > MOST_CHARACTERS


def packed(run: SearchRun) -> bytes:
    """The file, gzip; for runs that are not large. Never held unpacked as a whole."""
    found = BytesIO()
    with gzip.GzipFile(fileobj=found, mode="wb", mtime=0) as file:
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
    for row in rows.iterator(chunk_size=200):
        kernel = KernelText(row.kernel.language, row.kernel.source, row.parameters)
        yield Recorded(
            Proposal(row.digest, kernel, Operator(row.operator), tuple(row.parents), cells[row.digest]),
            row.status in (Status.MEASURED, Status.FAILED),
            row.seconds,
            row.evaluation.verdict if row.evaluation else "",
            row.action,
            row.generation,
        )


def _cells(run: SearchRun) -> dict[str, tuple[str, ...]]:
    """What kind of kernel each candidate is: only the log tells."""
    documents = run.events.filter(kind=SearchEvent.Kind.GENERATION).values_list("document", flat=True)
    return {
        item["digest"]: tuple(item["cell"]) for document in documents.iterator() for item in document["new"]
    }
