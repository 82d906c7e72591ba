"""What is known, when a search begins, of its surrogate's forecasts of the same task on the same device."""

import math
from bisect import bisect_left
from dataclasses import asdict, dataclass, field
from uuid import UUID

from leaderboard.search.models import SearchCandidate, SearchEvent, SearchRun
from leaderboard.search.standing import Case, Standing, standing_of
from leaderboard.search.telling import is_told
from surrogate.policy import Rules
from surrogate.risk import Scope

#: The newest searches of a place that count.
_MOST_RUNS = 100
#: Of their outcomes the newest.
_MOST_CASES = 5000
_OUTCOMES = (SearchCandidate.Status.MEASURED, SearchCandidate.Status.FAILED)


def standing_at(scope: Scope, rules: Rules) -> Standing:
    """By the outcomes of all searches in ``scope`` so far."""
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
    """Oldest first. ``temperatures`` are those by which each run had corrected what its surrogate stated.

    Three queries, however many runs there are.
    """
    fields = ("run_id", "seq", "digest", "p_better", "forecast_seconds", "forecast_spread", "seconds")
    rows = SearchCandidate.objects.filter(run__in=temperatures, status__in=_OUTCOMES).order_by("-pk")
    found = list(rows.values_list(*fields)[:_MOST_CASES])[::-1]
    known = _known({row[0] for row in found})
    cases = []
    for run, seq, digest, p_better, forecast, spread, seconds in found:
        to_beat = known[run].best_at(seq)
        if p_better is None or forecast is None or not spread or not math.isfinite(to_beat):
            continue
        off = None
        if seconds is not None and is_told(forecast, spread, p_better):
            off = math.log2(seconds / forecast) / (spread / math.sqrt(temperatures[run]))
        cases.append(Case(digest, 1 - p_better, seconds is not None and seconds < to_beat, off))
    return cases


@dataclass
class _Known:
    """What a run knew when: numbers of the events that decided, and of those that told a time, with the best
    time by then."""

    decided: list[int] = field(default_factory=list)
    measured: list[int] = field(default_factory=list)
    best: list[float] = field(default_factory=list)

    def best_at(self, seq: int) -> float:
        """The best time known when that was decided which event ``seq`` tells the outcome of: nothing is
        decided while anything is measured."""
        place = bisect_left(self.decided, seq)
        known = bisect_left(self.measured, self.decided[place - 1]) if place else 0
        return self.best[known - 1] if known else math.inf


def _known(runs: set[UUID]) -> dict[UUID, _Known]:
    """Two queries."""
    found = {run: _Known() for run in runs}
    decided = SearchEvent.objects.filter(run__in=runs, kind=SearchEvent.Kind.GENERATION)
    for run, seq in decided.order_by("seq").values_list("run_id", "seq"):
        found[run].decided.append(seq)
    measured = SearchCandidate.objects.filter(run__in=runs, seconds__isnull=False)
    for run, seq, seconds in measured.order_by("seq").values_list("run_id", "seq", "seconds"):
        known = found[run]
        known.measured.append(seq)
        known.best.append(min(seconds or math.inf, known.best[-1] if known.best else math.inf))
    return found
