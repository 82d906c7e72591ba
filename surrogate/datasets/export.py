"""Our own format, one object a line: ``{"format": …, "request": …, "log2_ratio": …, "noise": …}``."""

from collections.abc import Iterable, Mapping
from typing import Any

from surrogate.contract.documents import DocumentError, number, request_document, request_from
from surrogate.datasets.record import Dataset, DatasetError, record, without_repeats
from surrogate.forecasters.base import Outcome

FORMAT = "kernelhub-outcome-1"


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    """One line of an export. Neighbours are left out: a reader finds them in the other lines."""
    document = request_document(outcome.request)
    document["neighbours"] = []
    return {
        "format": FORMAT,
        "request": document,
        "log2_ratio": outcome.log2_ratio,  # null: the kernel failed
        "noise": outcome.noise,
    }


def recognises(first: Mapping[str, Any]) -> bool:
    return str(first.get("format", "")).startswith("kernelhub-outcome-")


def load(rows: Iterable[Mapping[str, Any]]) -> Dataset:
    data = Dataset()
    found = []
    for line, row in enumerate(rows, start=1):
        data.counts["lines"] += 1
        try:
            found.append(record(_outcome(row)))
        except DocumentError as error:
            raise DatasetError(f"line {line}: {error}") from error
    data.records = without_repeats(found, data.counts)
    data.counts["failed"] = sum(item.outcome.log2_ratio is None for item in data.records)
    return data


def _outcome(row: Mapping[str, Any]) -> Outcome:
    if row.get("format") != FORMAT:
        raise DocumentError(f"'format' is {row.get('format')!r}, not {FORMAT!r}")
    request = row.get("request")
    if not isinstance(request, Mapping):
        raise DocumentError("'request' is not an object")
    ratio = None if row.get("log2_ratio") is None else number(row, "log2_ratio")
    return Outcome(request_from(request), ratio, number(row, "noise"))
