"""What a run's charts draw, as columns: all of it thinned out, or what came after a number."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, FloatField, Min, Q, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from leaderboard.search.drawing import Band, band
from leaderboard.search.kinds import Kind, kind_of
from leaderboard.search.llm.models import JournalEntry
from leaderboard.search.models import SearchCandidate, SearchEvent, SearchRun
from leaderboard.search.plan import Policy
from leaderboard.search.selectors.runs import changed_since, visible_runs
from leaderboard.search.telling import is_told
from leaderboard.search.thinning import Point, thinned
from leaderboard.selectors.viewers import Viewer

#: Candidates of one answer that come after a number; a page asks again for the rest.
LIMIT = 2000
#: Kernels that a band is made of, the newest ones.
_MOST_DRAWN = 500
#: What ``is_told`` asks for.
_FORECAST = ("forecast_seconds", "forecast_spread", "p_better")
_PLACES = {kind: place for place, kind in enumerate(Kind)}
_EventKind = SearchEvent.Kind


@dataclass(frozen=True)
class Step:
    """A measurement that beat all before it, or the newest one: what had been used by then.

    ``elapsed`` seconds leave pauses out; ``dollars`` are those of language models.
    """

    measurements: int
    device_seconds: float
    elapsed: float
    dollars: float
    seconds: float  # the best so far
    number: int  # of the candidate that was measured
    improves: bool


@dataclass(frozen=True)
class Drawn:
    """The band of random draws. ``is_sieved``: a surrogate chose which of these kernels were measured."""

    band: Band
    sample: int
    is_sieved: bool


def points(run: SearchRun, since: int, after: int | None = None) -> tuple[list[Point], int, int | None]:
    """(points, event up to which they tell, last candidate told of that event or None for all). One query.

    From 0 on all candidates, thinned out; later those that events after ``since`` changed, and of ``since``
    itself those after candidate ``after``. Where the third is a number there are more.
    """
    rows = changed_since(run, since, after).filter(seq__lte=run.seq)
    columns = rows.values_list("number", "status", "action", "seconds", *_FORECAST, "seq")
    if since == 0:
        return thinned(_point(row) for row in columns.iterator(chunk_size=5000)), run.seq, None
    found = list(columns[:LIMIT])
    if len(found) < LIMIT:
        return [_point(row) for row in found], run.seq, None
    return [_point(row) for row in found], found[-1][-1], found[-1][0]


def columns_of(found: Sequence[Point]) -> dict[str, list[Any]]:
    """As arrays, four digits each: a third of the bytes of a list of objects."""
    return {
        "number": [point.number for point in found],
        "kind": [_PLACES[point.kind] for point in found],
        "seconds": [_short(point.seconds) for point in found],
        "forecast": [_short(point.forecast) for point in found],
    }


def steps(run: SearchRun, since: int = 0, upto: int | None = None) -> list[Step]:
    """Improvements by events after ``since``, and the newest measurement. Four queries at most."""
    upto = run.seq if upto is None else upto
    measured = SearchEvent.objects.filter(run=run, kind=_EventKind.MEASURED, seq__lte=upto)
    base = _used(measured.filter(seq__lte=since)) if since else (0, 0.0, None)
    count, device_seconds, best = base
    rows = list(
        measured.filter(seq__gt=since)
        .order_by("seq")
        .values_list("created_at", "document__number", "document__log2_seconds", "document__device_seconds")
    )
    if not rows:
        return []
    going, bills = _going(run), _bills(run)
    found: list[Step] = []
    for place, (at, number, log2_seconds, cost) in enumerate(rows):
        count += 1
        device_seconds += cost or 0.0
        improves = log2_seconds is not None and (best is None or log2_seconds < best)
        best = log2_seconds if improves else best
        if best is not None and (improves or place == len(rows) - 1):
            money = _until(bills, at)
            elapsed = _elapsed(going, at)
            found.append(Step(count, device_seconds, elapsed, money, 2.0**best, int(number), improves))
    return found


def step_columns(found: Sequence[Step]) -> dict[str, list[Any]]:
    names = ("measurements", "device_seconds", "elapsed", "dollars", "seconds", "number")
    return {name: [_short(getattr(step, name), 6) for step in found] for name in names}


def drawn(run: SearchRun, viewer: Viewer) -> Drawn | None:
    """What random draws find, from measured kernels that were drawn at random. Two queries at most.

    Best are those of runs without a surrogate, this one or others that the viewer may see: nothing chose
    among them. Else this run's own, which its surrogate let through and which are likely faster.
    """
    most = run.measurements_limit
    fair = Q(run__plan__policy__in=(str(Policy.NONE), str(Policy.RANDOM)), run__in=visible_runs(viewer))
    same = Q(run__version_id=run.version_id, run__device_id=run.device_id)
    same &= Q(run__template_digest=run.template_digest, run__generator=run.generator)
    for where, is_sieved in ((fair & same, False), (Q(run=run), True)):
        times, failing = _sample(where)
        if (found := band(times, failing, most)) is not None:
            return Drawn(found, len(times) + failing, is_sieved)
        if not is_sieved and run.plan.get("policy") in (str(Policy.NONE), str(Policy.RANDOM)):
            return None  # its own are among the fair ones, and too few
    return None


def band_columns(found: Drawn) -> dict[str, Any]:
    columns = {
        name: [_short(item) for item in getattr(found.band, name)] for name in ("low", "expected", "high")
    }
    return {**columns, "sample": found.sample, "is_sieved": found.is_sieved}


def _sample(where: Q) -> tuple[list[float], int]:
    status = SearchCandidate.Status
    independent = Q(operator__in=("random", "translate"))
    rows = SearchCandidate.objects.filter(
        where, independent, status__in=(status.MEASURED, status.FAILED)
    ).order_by("-pk")
    seconds = list(rows.values_list("seconds", flat=True)[:_MOST_DRAWN])
    return [value for value in seconds if value is not None], seconds.count(None)


def _used(measured: Any) -> tuple[int, float, float | None]:
    def number(name: str) -> Cast:
        return Cast(KeyTextTransform(name, "document"), FloatField())

    sums = measured.aggregate(
        count=Count("pk"), seconds=Sum(number("device_seconds")), best=Min(number("log2_seconds"))
    )
    return sums["count"], sums["seconds"] or 0.0, sums["best"]


def _going(run: SearchRun) -> list[tuple[datetime, datetime | None]]:
    """(from, to) while the run went; the last one may be open. Waiting for a read-only site is left in."""
    words = (
        _EventKind.STARTED,
        _EventKind.PAUSED,
        _EventKind.RESUMED,
        _EventKind.EXTENDED,
        _EventKind.FINISHED,
    )
    spans: list[tuple[datetime, datetime | None]] = []
    begun: datetime | None = None
    last = ""
    for kind, at in run.events.filter(kind__in=words).order_by("seq").values_list("kind", "created_at"):
        if kind == _EventKind.EXTENDED and last != _EventKind.FINISHED:
            continue  # more to spend starts no clock, unless the run had ended for the lack of it
        last = kind
        if kind in (_EventKind.PAUSED, _EventKind.FINISHED):
            if begun is not None:
                spans.append((begun, at))
            begun = None
        elif begun is None:
            begun = at
    return spans if begun is None else [*spans, (begun, None)]


def _elapsed(spans: Sequence[tuple[datetime, datetime | None]], at: datetime) -> float:
    total = 0.0
    for begun, ended in spans:
        until = at if ended is None else min(at, ended)
        total += max(0.0, (until - begun).total_seconds())
    return total


def _bills(run: SearchRun) -> tuple[list[datetime], list[float]]:
    """Times of a language model's replies, and the sum that they had cost by then."""
    if run.generator != "llm":
        return [], []
    times: list[datetime] = []
    sums: list[float] = []
    replies = JournalEntry.objects.filter(run=run, kind=JournalEntry.Kind.REPLIED).order_by(
        "created_at", "pk"
    )
    for at, cost in replies.values_list("created_at", "document__cost"):
        times.append(at)
        sums.append((sums[-1] if sums else 0.0) + float(cost or 0.0))
    return times, sums


def _until(bills: tuple[list[datetime], list[float]], at: datetime) -> float:
    place = bisect_right(bills[0], at)
    return bills[1][place - 1] if place else 0.0


def _point(row: tuple[Any, ...]) -> Point:
    number, status, action, seconds, *forecast, _ = row
    return Point(number, kind_of(status, action), seconds, forecast[0] if is_told(*forecast) else None)


def _short(value: float | None, digits: int = 4) -> float | None:
    return None if value is None else float(f"{value:.{digits}g}")
