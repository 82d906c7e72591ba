"""``manage.py search_replay``: whole searches of recorded pools, policies compared at equal measurements.

A pool is a tuning space whose every setting was measured, or what ``manage.py search_export`` writes of a
run. Of a run only the measured candidates can be searched again: it is as biased as what chose them, so
that policies are best compared on runs of the policy ``none``.
"""

import json
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import numpy as np
from django.core.management.base import BaseCommand, CommandError

from leaderboard.search.generators.recorded import Pool, load_pool
from leaderboard.search.plan import MOST_MULTIPLE, Plan, Policy
from leaderboard.search.recordings import Recording, is_recording, load_recording
from leaderboard.search.replay import Arena, Replayed
from leaderboard.search.scoring import best_so_far, performance, random_baseline
from surrogate.datasets.record import DatasetError
from surrogate.management.commands.evaluate_surrogate import machine, rounded

_CHECKPOINTS = (20, 50, 100)
#: A multiple that means: the whole pool is considered from the start.
_WHOLE = "whole"
#: Below these the numbers are told with a remark: seeds of a mean, and kernels for each measurement.
_FEWEST_SEEDS = 10
_FEWEST_KERNELS = 5


class Command(BaseCommand):
    help = "Search fully measured pools; each file's device is searched with the others as history."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--pool", nargs="+", type=Path, required=True, metavar="FILE")
        parser.add_argument("--measurements", type=int, default=100)
        parser.add_argument(
            "--policy", nargs="+", choices=[str(item) for item in Policy], default=[str(Policy.SURROGATE)]
        )
        parser.add_argument(
            "--multiple",
            nargs="+",
            default=["4"],
            help=f'candidates considered per measurement, or "{_WHOLE}" for the whole pool',
        )
        parser.add_argument("--seeds", type=int, default=20)
        parser.add_argument("--slots", type=int, default=4, help="measurements in a generation")
        parser.add_argument(
            "--no-recall", action="store_true", help="do not propose what was good on other devices"
        )
        parser.add_argument("--no-history", action="store_true", help="know nothing of the other devices")
        parser.add_argument("--only", nargs="*", default=[], metavar="DEVICE", help="search these alone")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["seeds"] < 1 or options["measurements"] < 1:
            raise CommandError("--seeds and --measurements must be at least 1")
        try:
            pools = [
                load_recording(path) if is_recording(path) else load_pool(path) for path in options["pool"]
            ]
            arms = list(_arms(options))
        except (DatasetError, ValueError) as error:
            raise CommandError(str(error)) from error
        results: dict[str, dict[str, dict[str, Any]]] = {}
        remarks = _about_seeds(options["seeds"])
        for pool in pools:
            if options["only"] and pool.device not in options["only"]:
                continue
            spaces = [item for item in pools if isinstance(item, Pool) and item is not pool]
            remarks += _about_size(pool, options["measurements"])
            arena = Arena(pool, [] if options["no_history"] else spaces, recall=not options["no_recall"])
            for name, plan in arms:
                found = _replay(arena, plan, options["measurements"], options["seeds"])
                results.setdefault(_name(pool), {})[name] = found
                self.stderr.write(f"{_name(pool)} {name}: {_line(found)}")
        document = {
            "command": _command(options),
            "machine": machine(),
            "value": "after n measurements, one number a seed: best found ÷ optimum, and the score, the mean "
            "over 1 … n of (baseline − best) ÷ (baseline − optimum); baseline: the expected best of as many "
            "random draws; a failing setting costs a measurement",
            "pools": {
                device: {name: _numbers(found) for name, found in arms_of.items()}
                for device, arms_of in results.items()
            },
        }
        if remarks:
            document["remarks"] = remarks
        if options["json"]:
            self.stdout.write(json.dumps(rounded(document), indent=1))
        else:
            for name, _ in arms:
                mean = _mean([found[name] for found in results.values()])
                self.stdout.write(f"{name}: {_line(mean)}")
            for remark in remarks:
                self.stdout.write(remark)


def _name(pool: Pool | Recording) -> str:
    return f"{pool.device}, run {pool.about.get('run')}" if isinstance(pool, Recording) else pool.device


def _about_seeds(seeds: int) -> list[str]:
    if seeds >= _FEWEST_SEEDS:
        return []
    return [f"Means of {seeds} seed{'s' * (seeds != 1)}: too few to tell one policy from another."]


def _about_size(pool: Pool | Recording, measurements: int) -> list[str]:
    if pool.size >= _FEWEST_KERNELS * measurements:
        return []
    share = f"{min(measurements, pool.size)} of the {pool.size} kernels that were ever measured"
    return [
        f"{_name(pool)}: a search measures {share}, so that even random draws come close to the best: "
        "too few to tell one policy from another."
    ]


def _arms(options: dict[str, Any]) -> list[tuple[str, Plan]]:
    """(name, plan) of each policy and multiple; policies that ask no surrogate have no use for multiples."""
    found = []
    for policy in map(Policy, options["policy"]):
        for multiple in options["multiple"] if policy.asks_surrogate else ["1"]:
            if multiple != _WHOLE and not multiple.isdigit():
                raise ValueError(f'--multiple takes whole numbers or "{_WHOLE}", not {multiple!r}')
            # The first generation of a whole pool takes every setting; later ones find nothing new.
            whole = multiple == _WHOLE
            times, islands = (MOST_MULTIPLE, 1) if whole else (int(multiple), 2)
            name = f"{policy} {_WHOLE} pool" if whole else f"{policy} {multiple}x"
            name += " without recall" if options["no_recall"] else ""
            plan = Plan(policy=policy, slots=options["slots"], multiple=times, islands=islands)
            found.append((name, plan))
    return found


def _replay(arena: Arena, plan: Plan, measurements: int, seeds: int) -> dict[str, Any]:
    pool = arena.pool
    times = pool.times
    failing = pool.size - len(times)
    baseline = random_baseline(times, failing, measurements)
    started = time.monotonic()
    runs = [arena.run(Plan(**{**vars(plan), "seed": seed}), measurements) for seed in range(seeds)]
    curves = np.stack([_curve(run, times[-1], measurements) for run in runs])
    scores = np.stack([performance(curve, baseline, times[0]) for curve in curves])
    return {
        "device": pool.device,
        "ratios": curves / times[0],
        "scores": scores,
        "baseline": baseline / times[0],
        "considered": float(np.mean([run.considered for run in runs])),
        "audits": float(np.mean([run.audits for run in runs])),
        "failed": float(np.mean([sum(item is None for item in run.seconds) for run in runs])),
        "skipped": float(np.mean([run.skipped for run in runs])),
        "skipped_better": float(np.mean([run.skipped_better for run in runs])),
        "seconds_per_search": (time.monotonic() - started) / seeds,
    }


def _curve(run: Replayed, worst: float, measurements: int) -> Any:
    curve = best_so_far(run.seconds, worst)
    return np.concatenate([curve, np.full(measurements - len(curve), curve[-1])])


def _numbers(found: dict[str, Any]) -> dict[str, Any]:
    """Lists hold one number per seed, so that several runs of this command can be put together."""
    measurements = found["ratios"].shape[1]
    numbers: dict[str, Any] = {
        str(count): {
            "found_over_optimum": found["ratios"][:, count - 1].tolist(),
            "score": found["scores"][:, :count].mean(axis=1).tolist(),
            "random_draws": float(found["baseline"][count - 1]),
        }
        for count in [item for item in _CHECKPOINTS if item < measurements] + [measurements]
    }
    for key in ("considered", "audits", "failed", "skipped", "skipped_better", "seconds_per_search"):
        numbers[key] = found[key]
    return numbers


def _mean(found: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "ratios": np.concatenate([item["ratios"] for item in found]),
        "scores": np.concatenate([item["scores"] for item in found]),
        "considered": float(np.mean([item["considered"] for item in found])),
        "seconds_per_search": float(np.mean([item["seconds_per_search"] for item in found])),
    }


def _line(found: dict[str, Any]) -> str:
    measurements = found["ratios"].shape[1]
    counts = [item for item in _CHECKPOINTS if item < measurements] + [measurements]
    cells = [f"{count}: {found['ratios'][:, count - 1].mean():.3f}" for count in counts]
    return (
        f"{', '.join(cells)}; score {found['scores'].mean():.3f}; "
        f"{found['considered']:.0f} considered, {found['seconds_per_search']:.2f} s"
    )


def _command(options: dict[str, Any]) -> str:
    words = ["manage.py search_replay", "--pool", *(path.name for path in options["pool"])]
    words += ["--measurements", str(options["measurements"]), "--policy", *options["policy"]]
    words += ["--multiple", *options["multiple"], "--seeds", str(options["seeds"])]
    words += ["--slots", str(options["slots"])]
    words += ["--no-recall"] if options["no_recall"] else []
    words += ["--no-history"] if options["no_history"] else []
    words += ["--only", *options["only"]] if options["only"] else []
    return " ".join([*words, "--json"])
