"""The table of a run's candidates: filtered, sorted and paged by the database, never counted row by row."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, F, Q, QuerySet
from django.db.models.fields.json import KeyTransform

from leaderboard.connections import give_back
from leaderboard.search.generators.base import Operator
from leaderboard.search.kinds import WHERE, Kind, kind_of
from leaderboard.search.models import SearchCandidate, SearchRun
from runners.models import EvaluationStatus

PAGE_SIZE = 25
#: Rows that a file reads at a time.
_BATCH = 2000

#: name → (field, whether large ones come first). Rows without a value come last.
SORTS: dict[str, tuple[str, bool]] = {
    "fastest": ("seconds", False),
    "newest": ("number", True),
    "oldest": ("number", False),
    "forecast": ("forecast_seconds", False),
    "likeliest": ("p_better", True),
}
_ROW = (
    "number", "digest", "operator", "generation", "island", "action", "reason", "status", "parameters",
    "forecast_seconds", "forecast_spread", "p_better", "seconds", "run_id", "seq",
)  # fmt: skip


class BadQuery(ValueError):
    """A table was asked for in words that are not ours; the message names them."""


@dataclass(frozen=True)
class Query:
    """``after`` is the cursor of the last row shown: its sort value and number."""

    kind: Kind | None = None
    operator: Operator | None = None
    sort: str = "fastest"
    after: str = ""

    @classmethod
    def of(cls, asked: Any) -> "Query":
        """From a query string's values. Raises BadQuery."""
        kind, operator = asked.get("kind", ""), asked.get("operator", "")
        sort, after = asked.get("sort", "fastest"), asked.get("after", "")
        if kind and kind not in list(Kind):
            raise BadQuery(f"{kind[:40]!r} is no kind of candidate.")
        if operator and operator not in list(Operator):
            raise BadQuery(f"{operator[:40]!r} is no operator.")
        if sort not in SORTS:
            raise BadQuery(f"{sort[:40]!r} is no order of candidates.")
        if after:
            _cursor(after)
        return cls(Kind(kind) if kind else None, Operator(operator) if operator else None, sort, after)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """What an address says of it, the cursor left out."""
        named = [("kind", self.kind or ""), ("operator", self.operator or "")]
        named.append(("sort", "" if self.sort == "fastest" else self.sort))
        return [(name, str(value)) for name, value in named if value]


@dataclass(frozen=True)
class Row:
    """``score`` is of a measured one, with its interval; rows for files go without it and without ``why``."""

    candidate: SearchCandidate
    kind: Kind
    verdict: str
    is_queued: bool = False  # sent to the device, where it waits for its turn
    score: Mapping[str, Any] | None = None
    why: str = ""  # the sentence of its verdict


@dataclass(frozen=True)
class TablePage:
    rows: list[Row]
    next: str  # cursor of the next page, or nothing


@dataclass(frozen=True)
class Counts:
    kinds: dict[Kind, int]
    operators: dict[Operator, int]

    @property
    def total(self) -> int:
        return sum(self.kinds.values())


def page(run: SearchRun, query: Query, size: int = PAGE_SIZE) -> TablePage:
    """One query, whatever the page: nothing before the cursor is read."""
    field, _ = SORTS[query.sort]
    rows = _filtered(run, query)
    if size <= PAGE_SIZE:  # out of large documents, which a file's thousands of rows do not open
        rows = rows.annotate(score=KeyTransform("score", "evaluation__result"), why=F("evaluation__reason"))
    if query.after:
        rows = rows.filter(_beyond(query))
    found = [_row(candidate) for candidate in rows[: size + 1]]
    if len(found) <= size:
        return TablePage(found, "")
    last = found[size - 1].candidate
    value = getattr(last, field)
    return TablePage(found[:size], f"{'' if value is None else repr(value)}~{last.number}")


def every_row(run: SearchRun, query: Query, most: int) -> Iterator[Row]:
    """For a file: at most ``most`` rows, the cursor ignored. Between two reads no connection is kept.

    Of a run that goes on meanwhile, a candidate that changes its place may be left out or come twice.
    """
    query, left = replace(query, after=""), most
    while left > 0:
        found = page(run, query, min(_BATCH, left))
        give_back()
        yield from found.rows
        if not found.next:
            return
        query, left = replace(query, after=found.next), left - len(found.rows)


def counts(run: SearchRun) -> Counts:
    """One query."""
    kinds, operators = dict.fromkeys(Kind, 0), dict.fromkeys(Operator, 0)
    groups = (
        run.candidates.order_by().values_list("status", "action", "operator").annotate(number=Count("pk"))
    )
    for status, action, operator, number in groups:
        kinds[kind_of(status, action)] += number
        if operator in operators:
            operators[Operator(operator)] += number
    return Counts(
        {kind: number for kind, number in kinds.items() if number},
        {operator: number for operator, number in operators.items() if number},
    )


def _filtered(run: SearchRun, query: Query) -> QuerySet[SearchCandidate]:
    field, falls = SORTS[query.sort]
    rows = run.candidates.only(*_ROW).annotate(
        verdict=F("evaluation__verdict"), evaluation_status=F("evaluation__status")
    )
    if query.kind:
        rows = rows.filter(WHERE[query.kind])
    if query.operator:
        rows = rows.filter(operator=query.operator)
    first = F(field).desc(nulls_last=True) if falls else F(field).asc(nulls_last=True)
    return rows.order_by(first, "number")


def _beyond(query: Query) -> Q:
    """Rows after the cursor in the order of ``_filtered``."""
    field, falls = SORTS[query.sort]
    value, number = _cursor(query.after)
    later = Q(number__gt=number)
    if field == "number":
        return Q(number__lt=number) if falls else later
    if value is None:
        return Q(**{f"{field}__isnull": True}) & later
    further = Q(**{f"{field}__{'lt' if falls else 'gt'}": value})
    return further | Q(**{field: value}) & later | Q(**{f"{field}__isnull": True})


def _cursor(text: str) -> tuple[float | None, int]:
    value, mark, number = text.partition("~")
    try:
        if not mark or not number.isascii() or not number.isdigit() or int(number) >= 2**31:
            raise ValueError  # noqa: TRY301 one sentence for every way of being none of ours
        place = float(value) if value else None
        if place is not None and not math.isfinite(place):
            raise ValueError  # noqa: TRY301
        return place, int(number)
    except ValueError:
        raise BadQuery("The cursor is not one that this table gave; start without it.") from None


def _row(candidate: SearchCandidate) -> Row:
    kind, more = kind_of(candidate.status, candidate.action), candidate.__dict__
    is_queued = kind == Kind.MEASURING and more["evaluation_status"] == EvaluationStatus.QUEUED
    return Row(candidate, kind, more["verdict"] or "", is_queued, more.get("score"), more.get("why") or "")
