"""What a run's forecasts were worth, from the kernels that it measured after it had forecast them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from leaderboard.search.documents import plan_from
from leaderboard.search.models import SearchCandidate, SearchRun
from leaderboard.search.selectors.standings import standing_kept
from leaderboard.search.telling import WIDEST
from surrogate.policy import Action

#: Share of outcomes that an interval promises → half its width in standard deviations of a normal forecast.
WIDTHS: dict[float, float] = {0.5: 0.6745, 0.8: 1.2816, 0.95: 1.96}
#: Measured forecasts below which a share says more about chance than about the surrogate.
FEWEST = 8


@dataclass(frozen=True)
class Judged:
    """A candidate that was forecast, then measured. ``spread`` is a standard deviation in octaves."""

    number: int
    generation: int
    audited: bool
    forecast: float
    spread: float
    seconds: float

    @property
    def octaves(self) -> float:
        """How much slower than forecast it was; negative: faster."""
        return math.log2(self.seconds / self.forecast)

    @property
    def low(self) -> float:
        """Seconds: the 80 % interval from here to ``high``."""
        return float(self.forecast * 2 ** (-WIDTHS[0.8] * self.spread))

    @property
    def high(self) -> float:
        return float(self.forecast * 2 ** (WIDTHS[0.8] * self.spread))

    @property
    def is_inside(self) -> bool:
        return self.low <= self.seconds <= self.high


@dataclass(frozen=True)
class Shares:
    """Of a promised share, what came true: all measured ones, and the audited ones, which nothing chose."""

    promised: float
    of_all: float | None
    of_audited: float | None


@dataclass(frozen=True)
class RunRecord:
    """``factor``: half of the measured times were within it of their forecast.

    Audits are of kernels that were to be skipped. ``missed`` of them would have been the best found by
    then, and ``regret`` is by how many times faster the best of those was: 1.0 where none was faster.
    ``promise`` says what was guaranteed of skips when the run began, or why nothing, and ``calibration`` how
    forecasts were corrected; both are empty where the run kept no such thing, and nothing is promised of what
    top k leaves out, which may be likely to win.
    """

    judged: list[Judged]  # newest first
    factor: float | None
    shares: list[Shares]
    audits: int
    audits_failed: int
    missed: int
    regret: float
    promise: str = ""
    calibration: str = ""

    @property
    def audited(self) -> int:
        return sum(item.audited for item in self.judged)


def record_of(run: SearchRun) -> RunRecord:
    """Two queries: what was measured, and what the run went by."""
    status = SearchCandidate.Status
    rows = run.candidates.filter(status__in=(status.MEASURED, status.FAILED)).order_by("seq", "number")
    found = list(
        rows.values_list("number", "generation", "action", "forecast_seconds", "forecast_spread", "seconds")
    )
    judged = [
        Judged(number, generation, action == Action.AUDIT, forecast, spread, seconds)
        for number, generation, action, forecast, spread, seconds in found
        if forecast and spread is not None and spread < WIDEST and seconds  # else it told no time
    ]
    times = [(generation, seconds) for _, generation, _, _, _, seconds in found if seconds]
    audits = [row for row in found if row[2] == Action.AUDIT]
    standing, plan = standing_kept(run), plan_from(run.plan)
    gains = regrets([(row[1], row[5]) for row in audits if row[5]], times)
    return RunRecord(
        judged=judged[::-1],
        factor=2 ** median(abs(item.octaves) for item in judged) if len(judged) >= FEWEST else None,
        shares=[
            Shares(promised, _share(judged, width), _share([item for item in judged if item.audited], width))
            for promised, width in WIDTHS.items()
        ],
        audits=len(audits),
        audits_failed=sum(row[5] is None for row in audits),
        missed=sum(gain > 1 for gain in gains),
        regret=max(gains, default=1.0),
        promise=standing.bar(plan.rules).promise if standing and plan.policy.may_promise else "",
        calibration=standing.calibration if standing else "",
    )


def columns_of(judged: Sequence[Judged]) -> dict[str, list[Any]]:
    """For a chart, as arrays: times in seconds, of four digits."""
    names = ("seconds", "forecast", "low", "high")
    columns: dict[str, list[Any]] = {
        name: [float(f"{getattr(item, name):.4g}") for item in judged] for name in names
    }
    return {"number": [item.number for item in judged], **columns}


def regrets(audits: Iterable[tuple[int, float]], times: Sequence[tuple[int, float]]) -> list[float]:
    """How many times faster each audited kernel was than the best that was known when it was to be skipped.

    Both hold (generation, seconds); what was known are the times of earlier generations.
    """
    best: dict[int, float] = {}
    for generation, seconds in times:
        best[generation] = min(seconds, best.get(generation, math.inf))
    found = []
    for generation, seconds in audits:
        known = min((value for other, value in best.items() if other < generation), default=math.inf)
        found.append(max(1.0, known / seconds) if math.isfinite(known) else 1.0)
    return found


def _share(judged: Sequence[Judged], width: float) -> float | None:
    if len(judged) < FEWEST:
        return None
    return sum(abs(item.octaves) <= width * item.spread for item in judged) / len(judged)
