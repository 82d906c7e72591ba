"""The page of a run and the parts of it that are read anew while it goes."""

import csv
import io
from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.db.models import F
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from leaderboard.downloads import download
from leaderboard.search.kinds import MEANINGS, OPERATORS, Kind
from leaderboard.search.llm.records import standings_of
from leaderboard.search.llm.stories import spend_by_model, without_kernel
from leaderboard.search.models import SearchRun
from leaderboard.search.pages.overview import ARMS, GENERATORS, overview_of
from leaderboard.search.pages.shared import after_of, is_owner, person, query_of, since_of, visible
from leaderboard.search.plan import Policy
from leaderboard.search.selectors import candidates, charts, records, runs
from leaderboard.search.selectors.candidates import SORTS, Query

PAGE_SIZE = 30
#: Rows of one CSV file; the API gives any number, in parts.
MOST_IN_FILE = 50_000
#: Rows of the table beside the chart of forecasts; the chart holds more.
_LISTED, _POINTS = 100, 500

SORT_LABELS = {
    "newest": "newest first",
    "oldest": "oldest first",
    "fastest": "fastest first",
    "forecast": "fastest forecast first",
    "likeliest": "likeliest to beat the best first",
}
_COLUMNS = (
    "number", "kind", "operator", "generation", "island", "action", "reason", "forecast_seconds",
    "forecast_spread_octaves", "p_better", "seconds", "verdict", "parameters",
)  # fmt: skip


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """Public searches and one's own, newest first."""
    found, user = runs.visible_runs(request.user), person(request)
    mine = request.GET.get("whose") == "mine" and user is not None
    if mine:
        found = found.filter(user=user)
    found = runs.with_best_score(found).annotate(best_ratio=F("starter_seconds") / F("best_seconds"))
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    return render(
        request, "leaderboard/search/index.html", {"page": page, "mine": mine, "generators": GENERATORS}
    )


@require_safe
def run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    found = visible(request, run_id)
    query = query_of(request)
    context = {
        **_overview(request, found),
        **_table(found, query),
        **_record(found),
        "arm_meaning": ARMS[Policy(found.plan.get("policy", Policy.SURROGATE))][1],
        "meanings": [(kind, MEANINGS[kind]) for kind in Kind],
    }
    return render(request, "leaderboard/search/run.html", context)


@require_safe
def live(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The state alone, for the page that shows it to fetch anew."""
    return _fresh(
        render(request, "leaderboard/search/_live.html", _overview(request, visible(request, run_id)))
    )


@require_safe
def table(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The candidates alone."""
    found, query = visible(request, run_id), query_of(request)
    context = {"run": found, "is_owner": is_owner(request, found), **_table(found, query)}
    return _fresh(render(request, "leaderboard/search/_table.html", context))


@require_safe
def record(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """What the forecasts were worth, what models cost, and the steps of the chart as a table."""
    found = visible(request, run_id)
    return _fresh(render(request, "leaderboard/search/_record.html", {"run": found, **_record(found)}))


@require_safe
def data(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """What the charts draw, after event ``since`` and, of that one, candidate ``after``.

    From 0 on it is thinned out, and has the band.
    """
    found, since = visible(request, run_id), since_of(request)
    points, upto, last = charts.points(found, since, after_of(request))
    answer: dict[str, Any] = {
        "seq": upto,
        "after": last,  # where there is more
        "points": charts.columns_of(points),
        "steps": charts.step_columns(charts.steps(found, since, upto)),
    }
    if since == 0:
        drawn = charts.drawn(found, request.user)
        answer |= {
            "kinds": list(Kind),
            "starter": found.starter_seconds,
            "considered": found.considered,
            "band": charts.band_columns(drawn) if drawn else None,
            "candidate": reverse("search-candidate", args=[found.pk, 0]).removesuffix("0/"),
        }
    return _fresh(JsonResponse(answer))


@require_safe
@download
def rows(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The filtered table as a CSV file, without sources."""
    found, query = visible(request, run_id), query_of(request)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for row in candidates.every_row(found, query, MOST_IN_FILE):
        writer.writerow(_cells(row))
    return HttpResponse(
        text.getvalue(),
        content_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="search-{found.pk}.csv"',
            "X-Content-Type-Options": "nosniff",
        },
    )


def _overview(request: HttpRequest, found: SearchRun) -> dict[str, Any]:
    return {"run": found, "overview": overview_of(found, is_owner=is_owner(request, found))}


def _table(found: SearchRun, query: Query) -> dict[str, Any]:
    counts, table = candidates.counts(found), candidates.page(found, query)
    return {
        "query": query,
        "table": table,
        "counts": counts,
        "kinds": list(counts.kinds.items()),
        "operators": list(counts.operators.items()),
        "operator_meanings": [(operator, OPERATORS[operator]) for operator in counts.operators],
        "has_untold": any(row.candidate.lacks_forecast for row in table.rows),
        "sorts": [(name, SORT_LABELS[name]) for name in SORTS],
        "most_in_file": MOST_IN_FILE,
    }


def _record(found: SearchRun) -> dict[str, Any]:
    record = records.record_of(found)
    steps = charts.steps(found)
    return {
        "record": record,
        "steps": steps,
        "listed": record.judged[:_LISTED],
        "fewest": records.FEWEST,
        "asks": Policy(found.plan.get("policy", Policy.SURROGATE)).asks_surrogate,
        "spend": spend_by_model(found) if found.generator == "llm" else [],
        "without_kernel": without_kernel(found) if found.generator == "llm" else [],
        "verifiers": standings_of(found) if found.generator == "llm" else [],
        "forecasts": records.columns_of(record.judged[:_POINTS]),
    }


def _cells(row: candidates.Row) -> list[Any]:
    """In the order of _COLUMNS."""
    item = row.candidate
    where = (item.number, row.kind, item.operator, item.generation, item.island, item.action)
    forecast = (item.told_seconds, item.told_spread, item.p_better)
    settings = " ".join(f"{name}={value}" for name, value in item.parameters.items())
    return [*where, _harmless(item.reason), *forecast, item.seconds, row.verdict, _harmless(settings)]


def _harmless(text: str) -> str:
    """A cell that a spreadsheet would run as a formula is quoted."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t") else text


def _fresh(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store"
    return response
