"""``manage.py evaluate_surrogate``: judge forecasters on files of measured kernels. Needs no database."""

import json
import os
import platform
import time
from argparse import ArgumentParser
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from surrogate.datasets.load import load
from surrogate.datasets.record import Dataset, DatasetError
from surrogate.evaluation.guarantee import realised_risk
from surrogate.evaluation.report import differences, report
from surrogate.evaluation.run import evaluate
from surrogate.evaluation.splits import SPLITS, folds
from surrogate.forecasters.registry import NAMES, UnknownForecaster, build

#: Kernels below which they say little even of their own tasks.
_FEW = 100
_COLUMNS = ("pairwise_accuracy", "mae_log2", "crps", "nll", "ece", "auroc", "e_aurc", "interval_80_coverage")


class Command(BaseCommand):
    help = "Judge forecasters on files of measured kernels, on tasks or devices they did not learn from."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data", nargs="+", type=Path, required=True, metavar="FILE")
        parser.add_argument(
            "--forecaster", action="append", required=True, metavar="NAME",
            help=f"one of {', '.join(NAMES)}; may be given several times",
        )  # fmt: skip
        parser.add_argument("--split", choices=SPLITS, default="task")
        parser.add_argument("--limit", type=int, help="examine at most this many kernels, drawn at random")
        parser.add_argument("--json", action="store_true", help="print the whole report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        data = Dataset()
        try:
            for path in options["data"]:
                data.extend(load(path))
            parts = folds(data.records, options["split"])
            for name in options["forecaster"]:
                build(name)
        except (DatasetError, UnknownForecaster, ValueError) as error:
            raise CommandError(str(error)) from error
        document: dict[str, Any] = {
            "command": f"manage.py evaluate_surrogate --split {options['split']} --json"
            + "".join(f" --forecaster {name}" for name in options["forecaster"])
            + (f" --limit {options['limit']}" if options["limit"] else "")
            + " --data "
            + " ".join(path.name for path in options["data"]),
            "machine": machine(),
            "records": len(data.records),
            "read": dict(sorted(data.counts.items())),
            "tasks": len({item.task for item in data.records}),
            "devices": sorted({item.device for item in data.records}),
            "folds": {fold.name: [len(fold.train), len(fold.test)] for fold in parts},
            "forecasters": {},
        }
        runs = {}
        for name in options["forecaster"]:
            started = time.monotonic()
            run = evaluate(partial(build, name), parts, limit=options["limit"])
            runs[name] = run
            result = report(run)
            result["guarantee"] = [
                realised_risk(
                    run.rows,
                    risk=risk,
                    delta=0.1,
                    split_by="device" if options["split"] == "device" else "task",
                )
                for risk in (0.05, 0.1, 0.2)
            ]
            result["seconds"] = round(time.monotonic() - started, 1)
            if remark := _remark(result):
                result["remark"] = remark
            document["forecasters"][name] = result
            if not options["json"]:
                self._print(name, result)
        if options["json"]:
            document["differences"] = differences(runs)
            self.stdout.write(json.dumps(rounded(document), indent=1))

    def _print(self, name: str, result: dict[str, Any]) -> None:
        if "metrics" not in result:
            self.stdout.write(f"{name}: no forecast. {result['why_no_forecast']}")
            return
        cells = []
        for column in _COLUMNS:
            value, low, high = result["metrics"].get(column, (float("nan"),) * 3)
            cells.append(f"{column} {value:.3f} [{low:.3f}, {high:.3f}]")
        self.stdout.write(f"{name}: " + ", ".join(cells) + f", {result['seconds']} s")
        if "remark" in result:
            self.stdout.write(f"{name}: {result['remark']}")


def _remark(result: dict[str, Any]) -> str:
    """What the numbers of few tasks do not say; nothing where tasks were resampled or none was forecast."""
    if result.get("bootstrap_unit") != "kernel":
        return ""
    count = result["bootstrap_units"]
    basis = f"{count} kernel{'s' * (count != 1)} of too few tasks to resample tasks"
    little = ", and so few kernels say little" if count < _FEW else ""
    return f"{basis}: the intervals hold for these tasks and say nothing of others{little}."


def machine() -> dict[str, Any]:
    """Where and with what a result was made."""
    import numpy
    import sklearn

    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine()
    )


def rounded(value: Any) -> Any:
    """Floats to 5 significant digits, NaN as null, so that results are short and valid JSON."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.5g}") if value == value and abs(value) != float("inf") else None
    return value
