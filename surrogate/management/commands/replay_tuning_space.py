"""``manage.py replay_tuning_space``: searches of fully measured tuning spaces, one device after the other."""

import json
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import BaseCommand, CommandError

from surrogate.datasets.load import load_space
from surrogate.datasets.record import DatasetError
from surrogate.evaluation.search_replay import STRATEGIES, Replay
from surrogate.management.commands.evaluate_surrogate import machine, rounded
from surrogate.metrics.search import (
    SHARES,
    found_over_best,
    measurements_of,
    measurements_to_within,
)

_COUNTS = (1, 3, 5, 10)


class Command(BaseCommand):
    help = "Search each device's measured tuning space, with the other devices' as history."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data", nargs="+", type=Path, required=True, metavar="FILE")
        parser.add_argument("--seeds", type=int, default=50)
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["seeds"] < 1:
            raise CommandError("--seeds must be at least 1")
        try:
            spaces = [load_space(path) for path in options["data"]]
        except DatasetError as error:
            raise CommandError(str(error)) from error
        document: dict[str, Any] = {
            "command": f"manage.py replay_tuning_space --seeds {options['seeds']} --json --data "
            + " ".join(path.name for path in options["data"]),
            "machine": machine(),
            "value": "best found ÷ optimum over the seeds: [median, mean, 90th percentile]",
            "devices": {},
        }
        for space in spaces:
            others = [item for item in spaces if item.device.slug != space.device.slug]
            replay = Replay.of(space, others)
            document["devices"][space.device.slug] = {
                "settings": replay.pool,
                "failing": sum(value is None for value in space.seconds.values()),
                "strategies": {name: self._replay(replay, name, options["seeds"]) for name in STRATEGIES},
            }
            if not options["json"]:
                self._print(space.device.slug, document["devices"][space.device.slug])
        if options["json"]:
            self.stdout.write(json.dumps(rounded(document), indent=1))

    def _replay(self, replay: Replay, name: str, seeds: int) -> dict[str, Any]:
        shares = {f"{share:.0%}": measurements_of(share, replay.pool) for share in SHARES}
        counts = {**{f"{count} measurements": count for count in _COUNTS}, **shares}
        budget = max(counts.values())
        best = float(replay.log2_seconds.min())
        started = time.monotonic()
        found, soon = [], []
        for seed in range(seeds):
            order = STRATEGIES[name](replay, np.random.default_rng(seed), budget)
            ratios = list(2 ** (replay.log2_seconds[order] - best))
            found.append(found_over_best(ratios, 1.0, list(counts.values())))
            soon.append(measurements_to_within(ratios, 1.0, 1.1) or np.inf)
        table = np.array(found)
        summary: dict[str, Any] = {
            label: [float(np.median(column)), float(column.mean()), float(np.quantile(column, 0.9))]
            for label, column in zip(counts, table.T, strict=True)
        }
        summary["median measurements to within 10 %"] = float(np.median(soon))
        summary["within 10 % in the budget"] = float(np.isfinite(soon).mean())
        summary["seconds per search"] = (time.monotonic() - started) / seeds
        return summary

    def _print(self, device: str, result: dict[str, Any]) -> None:
        self.stdout.write(f"{device}: {result['settings']} settings, {result['failing']} fail")
        for name, summary in result["strategies"].items():
            cells = ", ".join(
                f"{label} {value[0]:.3f}" for label, value in summary.items() if isinstance(value, list)
            )
            self.stdout.write(f"  {name}: {cells}")
