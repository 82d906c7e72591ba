"""Row-wise scores of what was said, and intervals by resampling tasks."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from surrogate.contract import bins
from surrogate.contract.forecast import Forecast
from surrogate.evaluation.run import Scored
from surrogate.features.similarity import kernel_digest
from surrogate.metrics import forecast as scores
from surrogate.metrics import ranking, selective

Floats = NDArray[np.float64]

RESAMPLES = 100
#: With fewer tasks than this, kernels are resampled instead, and the report says so.
_FEWEST_TASKS = 10


class Table:
    """Row-wise scores of all rows whose kernel worked; abstentions count as uniform where said."""

    def __init__(self, rows: Sequence[Scored], masses: Floats | None = None) -> None:
        self.rows = rows
        self.masses = masses_of(rows) if masses is None else masses
        self.actual = np.array([row.record.outcome.log2_ratio for row in rows], dtype=np.float64)
        self.labels = np.array([bins.label_log2(value) for value in self.actual])
        self.mean = self.masses @ np.array([bins.midpoint(index) for index in range(bins.COUNT)])
        logs = np.log(np.maximum(self.masses, 1e-300))
        self.confidence = np.round(1 + (self.masses * logs).sum(axis=1) / math.log(bins.COUNT), 12)
        self.hit = self.masses.argmax(axis=1) == self.labels
        self.p_faster = self.masses[:, bins.label_log2(0.0) :].sum(axis=1)
        noise = np.array([row.record.outcome.noise for row in rows])
        self.tie = ranking.ties(self.actual, noise)
        right = np.where(self.mean == 0, 0.5, (self.mean > 0) == (self.actual > 0))
        self.columns: dict[str, Floats] = {
            "pairwise_accuracy": np.where(self.tie, np.nan, right),
            "exact_bin": self.hit.astype(np.float64),
            "within_one_bin": (abs(self.masses.argmax(axis=1) - self.labels) <= 1).astype(np.float64),
            "mae_log2": abs(self.mean - self.actual),
            "crps": scores.crps(self.masses, self.labels),
            "brier_half": scores.brier_half(self.masses, self.labels),
            "nll": scores.nll(self.masses, self.labels),
            "interval_80_coverage": scores.interval_hits(self.masses, self.actual, 0.8).astype(np.float64),
        }

    def metrics(self, chosen: NDArray[np.int64]) -> dict[str, float]:
        """All metrics over the rows at ``chosen``, which may repeat; undefined ones are left out."""
        found = {name: float(np.nanmean(column[chosen])) for name, column in self.columns.items()
                 if not np.isnan(column[chosen]).all()}  # fmt: skip
        found |= self._faster(chosen)
        found["ece"] = scores.expected_calibration_error(self.masses[chosen].max(axis=1), self.hit[chosen])
        wrong = 1.0 - self.hit[chosen]
        for name, value in selective.selective_metrics(list(self.confidence[chosen]), list(wrong)).items():
            if value is not None:
                found[name] = value
        found["aurc_octaves"] = selective.aurc(self.confidence[chosen], self.columns["mae_log2"][chosen])
        return found

    def _faster(self, chosen: NDArray[np.int64]) -> dict[str, float]:
        """Is the kernel faster than its anchor? Precision and recall at a stated probability of one half."""
        stated = self.p_faster[chosen]
        said, true = stated >= 0.5, self.actual[chosen] > 0
        found = {"faster_brier": float(((stated - true) ** 2).mean())}
        if said.any():
            found["faster_precision"] = float(true[said].mean())
        if true.any():
            found["faster_recall"] = float(said[true].mean())
        area = selective.auroc(stated, true)
        return found if area is None else {**found, "faster_auroc": area}


def column_means(columns: Mapping[str, Floats], chosen: NDArray[np.int64]) -> dict[str, float]:
    return {
        name: float(np.nanmean(column[chosen]))
        for name, column in columns.items()
        if not np.isnan(column[chosen]).all()
    }


def masses_of(rows: Sequence[Scored]) -> Floats:
    return np.array(
        [row.answer.probabilities if isinstance(row.answer, Forecast) else bins.uniform() for row in rows]
    )


def units_of(rows: Sequence[Scored]) -> tuple[list[str], str]:
    tasks = [row.record.task for row in rows]
    if len(set(tasks)) >= _FEWEST_TASKS:
        return tasks, "task"
    return [kernel_digest(row.record.outcome.request.kernel) for row in rows], "kernel"


def with_intervals(
    compute: Callable[[NDArray[np.int64]], dict[str, float]], units: Sequence[str]
) -> dict[str, list[float]]:
    """name → [value, low, high], a 95 % percentile interval over resampled units, not rows."""
    members: dict[str, list[int]] = defaultdict(list)
    for place, unit in enumerate(units):
        members[unit].append(place)
    groups = [np.array(places) for places in members.values()]
    generator = np.random.default_rng(0)
    samples: dict[str, list[float]] = defaultdict(list)
    for _ in range(RESAMPLES):
        drawn = generator.integers(0, len(groups), len(groups))
        for name, value in compute(np.concatenate([groups[place] for place in drawn])).items():
            samples[name].append(value)
    return {
        name: [value, *(float(end) for end in np.quantile(samples[name] or [math.nan], (0.025, 0.975)))]
        for name, value in compute(np.arange(len(units))).items()
    }
