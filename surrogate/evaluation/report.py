"""From scored rows to a table: every metric with a bootstrap interval over tasks."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surrogate.calibration import fit_masses
from surrogate.contract import bins
from surrogate.contract.forecast import Forecast
from surrogate.evaluation.run import Run, Scored
from surrogate.features.similarity import kernel_digest
from surrogate.history import anchor_digest
from surrogate.metrics import forecast as scores
from surrogate.metrics import ranking, selective
from surrogate.metrics.search import SHARES, found_over_best, measurements_of
from surrogate.risk import Scope

Floats = NDArray[np.float64]

RESAMPLES = 100
#: With fewer tasks than this, kernels are resampled instead, and the report says so.
_FEWEST_TASKS = 10
_SMALLEST_SET = 4
#: Sets at least this large are big enough to ask how soon a search would find the best.
_SEARCHED_SET = 50
#: The least confident share of a set that is measured when the others are taken at their word.
_MEASURED_SHARE = 0.2


class Table:
    """Row-wise scores of all rows whose kernel worked; abstentions count as uniform where said."""

    def __init__(self, rows: Sequence[Scored], masses: Floats | None = None) -> None:
        self.rows = rows
        self.masses = _masses(rows) if masses is None else masses
        self.actual = np.array([row.record.outcome.log2_ratio for row in rows], dtype=np.float64)
        self.labels = np.array([bins.label_log2(value) for value in self.actual])
        self.mean = self.masses @ np.array([bins.midpoint(index) for index in range(bins.COUNT)])
        logs = np.log(np.maximum(self.masses, 1e-300))
        self.confidence = np.round(1 + (self.masses * logs).sum(axis=1) / math.log(bins.COUNT), 12)
        self.hit = self.masses.argmax(axis=1) == self.labels
        self.p_faster = self.masses[:, bins.label_log2(0.0) :].sum(axis=1)
        noise = np.array([row.record.outcome.noise for row in rows])
        self.tie = abs(self.actual) < np.maximum(ranking.TIE_OCTAVES, 2 * noise)
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


def report(run: Run) -> dict[str, Any]:
    """Counts, metrics of answered rows, the same with abstentions as uniform, ranking, P(correct), search."""
    worked = [row for row in run.rows if row.record.outcome.log2_ratio is not None]
    answered = [row for row in worked if isinstance(row.answer, Forecast)]
    result: dict[str, Any] = {
        "counts": dict(sorted(run.counts.items())),
        "answered_share": len(answered) / len(worked) if worked else 0.0,
    }
    if run.rows:
        usages = [row.answer.usage for row in run.rows]
        result["usage"] = {
            "seconds_per_forecast": run.seconds / len(run.rows),
            "cost_usd": sum(item.cost_usd for item in usages),
            "input_tokens": sum(
                item.input_tokens + item.cache_read_tokens + item.cache_write_tokens for item in usages
            ),
            "output_tokens": sum(item.output_tokens for item in usages),
        }
    if not answered:
        return result
    table = Table(answered)
    units, unit = _units(answered)
    result |= {
        "ties_left_out_of_pairs": int(table.tie.sum()),
        "bootstrap_unit": unit,
        "bootstrap_units": len(set(units)),
        "metrics": _with_intervals(table.metrics, units),
        "within_task": _within_task(table, units),
        "recalibrated": _recalibrated(answered),
        "by_device": _by_device(answered),
    }
    if len(answered) < len(worked):
        everything = Table(worked)
        result["abstentions_as_uniform"] = everything.metrics(np.arange(len(worked)))
    result["correctness"] = _correctness(run.rows)
    result["search"] = _search(table)
    sums = [row.answer.raw_sum for row in answered if isinstance(row.answer, Forecast)]
    result["raw_sum"] = {"lowest": min(sums), "median": float(np.median(sums)), "highest": max(sums)}
    return result


def differences(runs: Mapping[str, Run]) -> dict[str, dict[str, dict[str, list[float]]]]:
    """name → other name → metric → [difference, low, high], paired row by row; abstentions as uniform.

    Runs must be over the same folds and limit.
    """
    names = ("pairwise_accuracy", "crps", "nll", "mae_log2")
    columns: dict[str, dict[str, Floats]] = {}
    units: list[str] = []
    for name, run in runs.items():
        worked = [row for row in run.rows if row.record.outcome.log2_ratio is not None]
        if any(isinstance(row.answer, Forecast) for row in worked):
            columns[name] = Table(worked).columns
            units, _ = _units(worked)
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    for name, mine in columns.items():
        found[name] = {}
        for other, theirs in columns.items():
            if other != name:
                gaps = {metric: mine[metric] - theirs[metric] for metric in names}
                found[name][other] = _with_intervals(partial(_nan_means, gaps), units)
    return found


def _nan_means(columns: Mapping[str, Floats], chosen: NDArray[np.int64]) -> dict[str, float]:
    return {
        name: float(np.nanmean(column[chosen]))
        for name, column in columns.items()
        if not np.isnan(column[chosen]).all()
    }


def _by_device(rows: Sequence[Scored]) -> dict[str, Any]:
    """A few scores of each device alone."""
    found: dict[str, Any] = {}
    for device in sorted({row.record.device for row in rows}):
        chosen = [row for row in rows if row.record.device == device]
        table = Table(chosen)
        columns = {name: table.columns[name] for name in ("pairwise_accuracy", "crps", "nll", "mae_log2")}
        units, _ = _units(chosen)
        found[device] = {"rows": len(chosen), **_with_intervals(partial(_nan_means, columns), units)}
    return found


def _masses(rows: Sequence[Scored]) -> Floats:
    return np.array(
        [row.answer.probabilities if isinstance(row.answer, Forecast) else bins.uniform() for row in rows]
    )


def _units(rows: Sequence[Scored]) -> tuple[list[str], str]:
    tasks = [row.record.task for row in rows]
    if len(set(tasks)) >= _FEWEST_TASKS:
        return tasks, "task"
    return [kernel_digest(row.record.outcome.request.kernel) for row in rows], "kernel"


def _with_intervals(
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


def _sets(table: Table, *, by_anchor: bool) -> dict[tuple[str, ...], list[int]]:
    sets: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, row in enumerate(table.rows):
        anchor = row.record.outcome.request.anchor
        name = (anchor.name, anchor_digest(anchor)) if by_anchor else ()
        sets[row.record.task, row.record.device, *name].append(place)
    return sets


def _mean_of(name: str, values: Floats, chosen: NDArray[np.int64]) -> dict[str, float]:
    return {name: float(values[chosen].mean())}


def _within_task(table: Table, units: Sequence[str]) -> dict[str, Any]:
    """Rank correlations over the ordered pairs of one task and device, averaged over tasks."""
    by_task: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (task, *_), places in _sets(table, by_anchor=False).items():
        if len(places) < _SMALLEST_SET:
            continue
        for name, correlation in (("kendall", ranking.kendall), ("spearman", ranking.spearman)):
            value = correlation(table.mean[places], table.actual[places])
            # A forecaster that says the same of everything has no order: that is a correlation of zero.
            by_task[name][task].append(0.0 if value is None else value)
    found: dict[str, Any] = {"sets_of_at_least": _SMALLEST_SET}
    for name, tasks in by_task.items():
        means = [float(np.mean(values)) for values in tasks.values()]
        found["tasks"] = len(means)
        found |= _with_intervals(
            partial(_mean_of, name, np.array(means)), [str(item) for item in range(len(means))]
        )
    return found


def _recalibrated(rows: Sequence[Scored]) -> dict[str, Any]:
    """Scores after recalibration learned from the other folds' forecasts: never from the fold itself."""
    masses = _masses(rows)
    folds = np.array([row.fold for row in rows])
    actual = np.array([row.record.outcome.log2_ratio for row in rows], dtype=np.float64)
    changed = masses.copy()
    methods = []
    for fold in sorted(set(folds)):
        others = folds != fold
        if others.sum() < _SEARCHED_SET:
            return {"skipped": "too few outcomes outside a fold"}
        fitted = fit_masses(masses[others], actual[others], Scope("", "", "", ""))
        methods.append(fitted.method)
        changed[~others] = fitted.transform(masses[~others])
    table = Table(rows, changed)
    metrics = table.metrics(np.arange(len(rows)))
    names = ("nll", "crps", "brier_half", "ece", "interval_80_coverage")
    return {"methods": methods, **{name: metrics[name] for name in names}}


def _correctness(rows: Sequence[Scored]) -> dict[str, Any]:
    """How well P(correct) tells working kernels from failing ones, on devices where some failed.

    Public sets with winners only have a device of their own: counting them would reward naming the set.
    """
    mixed = {row.record.device for row in rows if row.record.outcome.log2_ratio is None}
    rows = [row for row in rows if row.record.device in mixed]
    stated = [
        (row.answer.p_correct, row.record.outcome.log2_ratio is not None)
        for row in rows
        if isinstance(row.answer, Forecast) and row.answer.p_correct is not None
    ]
    if not stated or all(worked for _, worked in stated):
        return {"rows": len(stated)}
    probabilities = np.array([probability for probability, _ in stated])
    worked = np.array([worked for _, worked in stated])
    return {
        "rows": len(stated),
        "failed": int((~worked).sum()),
        "auroc": selective.auroc(probabilities, worked),
        "brier": float(((probabilities - worked) ** 2).mean()),
        "brier_of_base_rate": float(worked.mean() * (1 - worked.mean())),
    }


def _search(table: Table) -> dict[str, Any]:
    """Mean of best found ÷ best, measuring in the order of expected speed-up, over large enough sets."""
    ratios, regrets = [], []
    for places in _sets(table, by_anchor=True).values():
        if len(places) < _SEARCHED_SET:
            continue
        order = np.argsort(-table.mean[places], kind="stable")
        seconds = 2.0 ** -table.actual[places]
        counts = [measurements_of(share, len(places)) for share in SHARES]
        ratios.append(found_over_best(list(seconds[order]), float(seconds.min()), counts))
        regrets.append(
            selective.set_regret(
                table.confidence[places], table.mean[places], table.actual[places], _MEASURED_SHARE
            )
        )
    if not ratios:
        return {"sets": 0}
    means = np.mean(ratios, axis=0)
    return {
        "sets": len(ratios),
        "regret_octaves_20_measured": float(np.mean(regrets)),
        **{f"best_at_{share:.0%}": float(mean) for share, mean in zip(SHARES, means, strict=True)},
    }
