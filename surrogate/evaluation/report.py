"""From scored rows to a table: every metric with a bootstrap interval over tasks."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surrogate.calibration import fit_masses
from surrogate.contract.forecast import Abstention, Forecast
from surrogate.evaluation.run import Run, Scored
from surrogate.evaluation.table import Floats, Table, column_means, masses_of, units_of, with_intervals
from surrogate.history import anchor_digest
from surrogate.metrics import ranking, selective
from surrogate.metrics.search import SHARES, found_over_best, measurements_of
from surrogate.risk import Scope

_SMALLEST_SET = 4
#: Sets at least this large are big enough to ask how soon a search would find the best.
_SEARCHED_SET = 50
#: The least confident share of a set that is measured when the others are taken at their word.
_MEASURED_SHARE = 0.2


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
        silent = (row.answer.message for row in run.rows if isinstance(row.answer, Abstention))
        result["why_no_forecast"] = next(silent, "No kernel that was examined has a time.")
        return result
    table = Table(answered)
    units, unit = units_of(answered)
    result |= {
        "ties_left_out_of_pairs": int(table.tie.sum()),
        "bootstrap_unit": unit,
        "bootstrap_units": len(set(units)),
        "metrics": with_intervals(table.metrics, units),
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
            units, _ = units_of(worked)
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    for name, mine in columns.items():
        found[name] = {}
        for other, theirs in columns.items():
            if other != name:
                gaps = {metric: mine[metric] - theirs[metric] for metric in names}
                found[name][other] = with_intervals(partial(column_means, gaps), units)
    return found


def _by_device(rows: Sequence[Scored]) -> dict[str, Any]:
    """A few scores of each device alone."""
    found: dict[str, Any] = {}
    for device in sorted({row.record.device for row in rows}):
        chosen = [row for row in rows if row.record.device == device]
        table = Table(chosen)
        columns = {name: table.columns[name] for name in ("pairwise_accuracy", "crps", "nll", "mae_log2")}
        units, _ = units_of(chosen)
        found[device] = {"rows": len(chosen), **with_intervals(partial(column_means, columns), units)}
    return found


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
        found |= with_intervals(
            partial(_mean_of, name, np.array(means)), [str(item) for item in range(len(means))]
        )
    return found


def _recalibrated(rows: Sequence[Scored]) -> dict[str, Any]:
    """Scores after recalibration learned from the other folds' forecasts: never from the fold itself."""
    masses = masses_of(rows)
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
