"""What a record of forecasts and outcomes says of a forecaster. Pure: rows in, numbers out."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from statistics import median

import numpy as np

from surrogate.contract import bins
from surrogate.metrics.forecast import forecast_metrics, reliability
from surrogate.metrics.ranking import PairCount, against_anchor, within_set
from surrogate.metrics.selective import auroc, risk_coverage
from surrogate.selectors.record import Row

#: Below so many judged forecasts a share or a curve would say more about chance than about the forecaster.
FEWEST = 10
#: Judged forecasts of one point of the ranking-quality curve.
WINDOW = 20
_RELIABILITY_POINTS = 5
_COVERAGE_POINTS = 40


@dataclass(frozen=True)
class Quality:
    """One forecaster's record. Shares are None while fewer than FEWEST forecasts were judged."""

    name: str
    recipe: str
    versions: int  # how often it learned anew, and once for the first
    forecasts: int  # abstentions not counted
    abstentions: dict[str, int]  # reason → how many
    judged: int  # forecasts whose kernel was timed afterwards
    calibrated: int  # forecasts that a learned calibration had corrected
    against_anchor: float | None  # share of pairs (kernel, reference) put in the right order
    ordering: float | None  # share of pairs of kernels of one task put in the right order
    pairs: int
    ties: int  # pairs that the measurement does not order
    coverage: float | None  # share of times inside the 80 % band
    mae: float | None  # octaves
    crps: float | None
    nll: float | None
    ece: float | None
    auroc: float | None  # of confidence against a wrong bin
    latency: float | None  # median seconds
    tokens: int
    cost: Decimal

    @property
    def abstained(self) -> int:
        return sum(self.abstentions.values())

    @property
    def factor(self) -> float | None:
        """The mean error as a factor of time."""
        return 2**self.mae if self.mae is not None else None


def qualities(rows: Iterable[Row]) -> list[Quality]:
    """One per forecaster and recipe, in the order of their newest forecast."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.name, row.recipe].append(row)
    return [quality(group) for group in groups.values()]


def quality(rows: Sequence[Row]) -> Quality:
    """Of one forecaster; at least one row is needed."""
    given = [row for row in rows if row.mean is not None]
    judged = [row for row in given if row.is_judged]
    enough = len(judged) >= FEWEST
    masses, truths = [row.masses or [] for row in judged], _truths(judged)
    metrics = forecast_metrics(masses, truths) if enough else {}
    order = pair_order(judged)
    return Quality(
        name=rows[0].name,
        recipe=rows[0].recipe,
        versions=len({row.version for row in rows}),
        forecasts=len(given),
        abstentions=dict(Counter(row.abstention for row in rows if row.abstention)),
        judged=len(judged),
        calibrated=sum(row.calibration is not None for row in given),
        against_anchor=_anchor_order(judged).accuracy if enough else None,
        ordering=order.accuracy if enough else None,
        pairs=order.pairs,
        ties=order.ties,
        coverage=metrics.get("interval_80_coverage"),
        mae=metrics.get("mae_log2"),
        crps=metrics.get("crps"),
        nll=metrics.get("nll"),
        ece=metrics.get("ece"),
        auroc=auroc([max(row) for row in masses], _hits(judged)) if enough else None,
        latency=median(row.latency_seconds for row in given) if given else None,
        tokens=sum(row.tokens for row in rows),
        cost=sum((row.cost_usd for row in rows), Decimal(0)),
    )


def pair_order(judged: Sequence[Row]) -> PairCount:
    """Pairs of kernels of one task, over all tasks."""
    tasks: dict[str, list[Row]] = defaultdict(list)
    for row in judged:
        tasks[row.spec].append(row)
    right, pairs, ties = 0.0, 0, 0
    for group in tasks.values():
        # More than this of one task would take longer than a page may.
        found = within_set(*_columns(group[:200]))
        right, pairs, ties = right + found.right, pairs + found.pairs, ties + found.ties
    return PairCount(right, pairs, ties)


def reliability_points(judged: Sequence[Row]) -> list[tuple[float, float, int]]:
    """(stated probability of the likeliest bin, share of times it came true, forecasts) in equal groups."""
    if len(judged) < FEWEST:
        return []
    stated = np.array([max(row.masses or [0.0]) for row in judged])
    points = reliability(stated, np.array(_hits(judged)), _RELIABILITY_POINTS)
    return [(said, hit, round(share * len(judged))) for said, hit, share in points]


def risk_points(judged: Sequence[Row]) -> list[tuple[float, float]]:
    """(share of forecasts kept, surest first; their mean error in octaves), thinned out."""
    if len(judged) < FEWEST:
        return []
    errors = [abs((row.mean or 0.0) - truth) for row, truth in zip(judged, _truths(judged), strict=True)]
    coverage, risk = risk_coverage([row.confidence or 0.0 for row in judged], errors)
    chosen = np.unique(np.linspace(0, len(risk) - 1, _COVERAGE_POINTS).astype(int))
    return [(float(coverage[place]), float(risk[place])) for place in chosen]


def ordering_over_time(judged: Sequence[Row]) -> list[tuple[datetime, float, int]]:
    """(when, share of pairs put in the right order, pairs) per WINDOW judged forecasts, oldest first."""
    oldest = sorted(judged, key=lambda row: row.created_at)
    points = []
    for start in range(0, len(oldest) - WINDOW + 1, WINDOW):
        window = oldest[start : start + WINDOW]
        found = pair_order(window)
        if found.accuracy is not None:
            points.append((window[-1].created_at, found.accuracy, found.pairs))
    return points


def _anchor_order(judged: Sequence[Row]) -> PairCount:
    return against_anchor(*_columns(judged))


def _columns(rows: Sequence[Row]) -> tuple[list[float], list[float], list[float]]:
    return [row.mean or 0.0 for row in rows], _truths(rows), [row.noise or 0.0 for row in rows]


def _truths(rows: Sequence[Row]) -> list[float]:
    return [row.log2_ratio or 0.0 for row in rows]


def _hits(rows: Sequence[Row]) -> list[bool]:
    return [
        int(np.argmax(row.masses or [0.0])) == bins.label_log2(truth)
        for row, truth in zip(rows, _truths(rows), strict=True)
    ]
