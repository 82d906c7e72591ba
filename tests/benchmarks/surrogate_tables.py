"""The committed results of the surrogate as tables, all metrics with their intervals, and who beats whom.

    python -m tests.benchmarks.surrogate_tables > tests/benchmarks/surrogate_tables.md

Reads ``results/surrogate_*.json`` and computes nothing anew: tests hold the written file to them.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
#: File and heading.
FILES = (
    ("surrogate_leave_task_out", "Tasks never seen"),
    ("surrogate_zero_shot_lm", "Tasks never seen, the untrained local language model, on a sample"),
    ("surrogate_zero_shot_baselines", "Tasks never seen, baselines on the same sample"),
    ("surrogate_leave_device_out", "A device never seen, kernels known on others"),
    ("surrogate_zero_shot_lm_device", "A device never seen, the untrained local language model, on a sample"),
    ("surrogate_zero_shot_baselines_device", "A device never seen, baselines on the same sample"),
    ("surrogate_leave_device_out_tuning", "Settings of one tuned kernel on a device never seen"),
)
#: File → the one with those forecasters that are too slow for all of its pairs.
SAMPLES = {
    "surrogate_leave_task_out": "surrogate_zero_shot_lm",
    "surrogate_leave_device_out": "surrogate_zero_shot_lm_device",
}
#: Forecasters without a result anywhere, and why.
NOT_ASKED = {"anthropic": "not asked: it needs an API key, and there was none"}
GROUPS: tuple[tuple[str, Mapping[str, str]], ...] = (
    (
        "Order and size",
        {
            "pairwise_accuracy": "pairwise accuracy", "kendall": "Kendall", "spearman": "Spearman",
            "exact_bin": "exact bin", "within_one_bin": "±1 bin", "mae_log2": "MAE, octaves",
        },
    ),
    (
        "Distribution and calibration",
        {
            "crps": "CRPS", "brier_half": "half Brier", "nll": "NLL", "ece": "ECE",
            "interval_80_coverage": "80 % interval holds", "faster_brier": "Brier of P(faster)",
        },
    ),
    (
        "Confidence",
        {
            "auroc": "AUROC", "aurc": "AURC", "e_aurc": "E-AURC", "augrc": "AUGRC",
            "risk_at_20": "risk at 20 %", "risk_at_50": "risk at 50 %",
        },
    ),
)  # fmt: skip
_SEARCH = {"best_at_1%": "1 %", "best_at_3%": "3 %", "best_at_5%": "5 %", "best_at_10%": "10 %"}
#: Metrics compared, and whether more is better.
COMPARED = {"pairwise_accuracy": True, "crps": False, "nll": False, "mae_log2": False}


def main() -> None:
    sys.stdout.write(document())


def document() -> str:
    """The whole file."""
    parts = [
        "# The surrogate's results, all metrics\n\n"
        "Made by `python -m tests.benchmarks.surrogate_tables` from `results/`; what they mean stands in "
        "`README.md`. In brackets: 95 % bootstrap intervals over tasks, or, of one task, over "
        "what the file names. Risk: share of wrong bins among the most confident share.\n"
    ]
    for name, heading in FILES:
        sample = _read(SAMPLES[name])["forecasters"] if name in SAMPLES else {}
        parts.append("\n".join(section(_read(name), heading, name, sample)))
    return "\n".join(parts)


def section(result: Mapping[str, Any], heading: str, name: str, sample: Mapping[str, Any]) -> Iterator[str]:
    """``sample`` has forecasters that were asked about some of the pairs only."""
    answers = {key: item for key, item in result["forecasters"].items() if "metrics" in item}
    silent = dict.fromkeys(result["forecasters"].keys() - answers.keys(), "abstained from every pair")
    silent |= {key: why for key, why in NOT_ASKED.items() if key not in result["forecasters"]}
    first = next(iter(answers.values()))
    yield f"## {heading}\n"
    yield f"`{name}.json`, {first['counts']['examined']} pairs: `{result['command']}`\n"
    shown = answers | {_of_sample(key, item): item for key, item in sample.items()}
    for title, metrics in GROUPS:
        rows = [
            [key, *(_cell({**item["metrics"], **item["within_task"]}.get(metric)) for metric in metrics)]
            for key, item in shown.items()
        ]
        rows += [[key, why, *[""] * (len(metrics) - 1)] for key, why in sorted(silent.items())]
        yield from _table([title, *metrics.values()], rows)
    searched = {key: item["search"] for key, item in answers.items() if item["search"].get("sets")}
    if searched:
        rows = [[key, *(f"{item[share]:.3g}" for share in _SEARCH)] for key, item in searched.items()]
        yield from _table(["Best found ÷ best after measuring", *_SEARCH.values()], rows)
    kept = [
        [key, *(_kept(item) for item in found["guarantee"])]
        for key, found in answers.items()
        if any(item.get("with_a_threshold") for item in found["guarantee"])
    ]
    if kept:
        yield from _table(["Realised risk, promised:", "0.05", "0.1", "0.2"], kept)
    if len(answers) > 1:
        yield from _comparison(result["differences"])


def _read(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text())


def _of_sample(name: str, found: Mapping[str, Any]) -> str:
    counts = found["counts"]
    answered = counts["examined"] - counts.get("abstained", 0)
    return f"{name}, {answered} of a sample of {counts['examined']}"


def _comparison(differences: Mapping[str, Any]) -> Iterator[str]:
    """Every pair whose interval leaves out zero in a metric, from the better one's side."""
    rows = []
    for name, others in differences.items():
        for other, gaps in others.items():
            cells = [_better(gaps[metric], more) for metric, more in COMPARED.items()]
            if any(cells):
                rows.append([f"{name} beats {other} by", *(cell or "–" for cell in cells)])
    yield from _table(["Paired, row by row", *(GROUPS_OF[metric] for metric in COMPARED)], rows)


def _better(gap: Sequence[float], more_is_better: bool) -> str:
    value, low, high = gap if more_is_better else (-gap[0], -gap[2], -gap[1])
    return f"{value:.3g} [{low:.3g}, {high:.3g}]" if low > 0 else ""


def _kept(found: Mapping[str, Any]) -> str:
    if not found.get("with_a_threshold"):
        return "no threshold"
    realised = found["mean_realised_risk"]
    mean = f"{realised:.3g}" if realised is not None else "–"
    return f"{mean}, broken in {found['violations']:.3g} of {found['resplits']}"


def _cell(value: Sequence[float] | None) -> str:
    if value is None or any(item is None for item in value):
        return "–"
    return f"{value[0]:.3g} [{value[1]:.3g}, {value[2]:.3g}]"


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heading)} |"
    yield "|---" * len(heading) + "|"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""


GROUPS_OF = {metric: words for _, metrics in GROUPS for metric, words in metrics.items()}

if __name__ == "__main__":
    main()
