"""What is known, when a search begins, of its surrogate's forecasts of the same task on the same device."""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from leaderboard.search.models import SearchCandidate, SearchEvent, SearchRun
from leaderboard.search.standing import Case, Standing, standing_of
from leaderboard.search.telling import is_told
from surrogate.policy import Rules
from surrogate.risk import Scope

#: The newest searches of a place that count.
_MOST_RUNS = 100
_OUTCOMES = (SearchCandidate.Status.MEASURED, SearchCandidate.Status.FAILED)


def standing_at(scope: Scope, rules: Rules) -> Standing:
    """By the outcomes of all searches in ``scope`` so far. Three queries."""
    # By its run first: events are many, and only a run's are found by an index.
    began = SearchEvent.objects.filter(
        run__device__slug=scope.device,
        run__version__task__slug=scope.family,
        kind=SearchEvent.Kind.STARTED,
        document__standing__scope=asdict(scope),
    ).order_by("-created_at", "-pk")
    runs = {
        run: float(temperature)
        for run, temperature in began.values_list("run_id", "document__standing__temperature")[:_MOST_RUNS]
    }
    return standing_of(scope, _cases(runs), rules)


def standing_kept(run: SearchRun) -> Standing | None:
    """What the run went by when it began; None for one without forecasts."""
    started = run.events.filter(kind=SearchEvent.Kind.STARTED)
    document = started.values_list("document__standing", flat=True).first()
    return Standing.from_document(document) if document else None


def _cases(temperatures: dict[UUID, float]) -> list[Case]:
    """Oldest first. ``temperatures`` are those by which each run had corrected what its surrogate stated."""
    steps: dict[UUID, list[int]] = defaultdict(list)
    generations = SearchEvent.objects.filter(run__in=temperatures, kind=SearchEvent.Kind.GENERATION)
    for run, seq in generations.order_by("seq").values_list("run_id", "seq"):
        steps[run].append(seq)
    rows = SearchCandidate.objects.filter(run__in=temperatures, status__in=_OUTCOMES).order_by("pk")
    fields = ("run_id", "seq", "digest", "p_better", "forecast_seconds", "forecast_spread", "seconds")
    measured: dict[UUID, list[tuple[int, float | None]]] = defaultdict(list)
    found = list(rows.values_list(*fields))
    for run, seq, *_, seconds in found:
        measured[run].append((seq, seconds))
    cases = []
    for run, seq, digest, p_better, forecast, spread, seconds in found:
        to_beat = _to_beat(steps[run], measured[run], seq)
        if p_better is None or forecast is None or not spread or not math.isfinite(to_beat):
            continue
        off = None
        if seconds is not None and is_told(forecast, spread, p_better):
            off = math.log2(seconds / forecast) / (spread / math.sqrt(temperatures[run]))
        cases.append(Case(digest, 1 - p_better, seconds is not None and seconds < to_beat, off))
    return cases


def _to_beat(steps: Sequence[int], measured: Sequence[tuple[int, float | None]], seq: int) -> float:
    """The best time that was known when what event ``seq`` tells of was decided: nothing is decided while
    anything is measured."""
    place = bisect_left(steps, seq)
    decided = steps[place - 1] if place else 0
    times = [seconds for other, seconds in measured if other < decided and seconds is not None]
    return min(times, default=math.inf)
