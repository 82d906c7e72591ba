"""Arms of a search on this machine side by side: what each found, timed again in turns with the starter.

    python -m tests.benchmarks.search_arms --rounds 5 surrogate.json none.json random.json \\
        > tests/benchmarks/results/search_cpu_softmax.json

The files are what ``manage.py search TASK --json --policy …`` wrote, one arm each. Arms that ran one after
the other met different loads, so their best times cannot be compared as they stand. What ``--commands`` and
``--notes`` say is kept with the results.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kernelhub.settings")
django.setup()

from leaderboard import local_runs  # noqa: E402  needs Django's settings
from leaderboard.search.generators.template import KEYS  # noqa: E402
from runners.contract.vocabulary import Mode, Verdict  # noqa: E402
from runners.supervisor.environment import ENGINE_VERSION, environment  # noqa: E402
from surrogate.management.commands.evaluate_surrogate import machine  # noqa: E402

#: What is kept of each measurement.
_KEPT = ("operator", "action", "verdict", "seconds", "forecast_seconds", "device_seconds", "best_seconds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("arms", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--commands", default="", help="how the arms were run")
    parser.add_argument("--notes", default="", help="the load they met, and when they ran")
    options = parser.parse_args()
    arms = {item["policy"]: item for item in (json.loads(path.read_text()) for path in options.arms)}
    first = next(iter(arms.values()))
    task, device = local_runs.find_task(first["task"]), local_runs.find_device(first["device"])
    sources = {"starter": task.starters[first["language"]]}
    sources |= {policy: arm["best_source"] for policy, arm in arms.items()}
    times: dict[str, list[float]] = {name: [] for name in sources}
    loads: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(1, options.rounds + 1):
            for name, source in sources.items():
                document = local_runs.run_source(
                    task,
                    source,
                    KEYS[first["language"]][0],
                    device,
                    Mode.BENCHMARK,
                    name=name,
                    data_dir=Path(folder),
                    required_tier="T0",
                    on_event=lambda _event: None,
                )
                if document["verdict"] != Verdict.PASSED or document["score"] is None:
                    sys.exit(f"{name}, round {number}: {document['verdict']}: {document['reason']}")
                times[name].append(document["score"]["seconds"])
                loads.append(os.getloadavg()[0])
                sys.stderr.write(f"{number} {name}: {times[name][-1]:.6g} s, load {loads[-1]:.1f}\n")
    report = {
        "command": f"python -m tests.benchmarks.search_arms --rounds {options.rounds}",
        "arms_command": options.commands,
        "arms_notes": options.notes,
        "machine": {**machine(), "device": device.name, **environment()},
        "engine": ENGINE_VERSION,
        "time": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
        "task": first["task"],
        "language": first["language"],
        "again": {
            "loads": loads,
            "seconds": times,
            "median_seconds": {name: statistics.median(values) for name, values in times.items()},
            "times_faster_than_starter": {
                name: statistics.median(
                    base / seconds for base, seconds in zip(times["starter"], values, strict=True)
                )
                for name, values in times.items()
            },
        },
        "arms": {policy: _arm(arm) for policy, arm in arms.items()},
    }
    json.dump(report, sys.stdout, indent=1)
    sys.stdout.write("\n")


def _arm(arm: dict[str, Any]) -> dict[str, Any]:
    rows = arm["measurements"]
    starter = arm["starter_seconds"]
    beats = next((row["measurement"] for row in rows if row["seconds"] and row["seconds"] < starter), None)
    kept = ("seed", "stop_reason", "measured", "considered", "starter_seconds", "best_seconds", "speed_up")
    return {
        **{name: arm[name] for name in kept},
        "best_parameters": arm["best_parameters"],
        "first_to_beat_the_starter": beats,
        "device_seconds": arm["device_seconds"],
        "failed": sum(row["verdict"] != Verdict.PASSED for row in rows),
        "measurements": [{name: row[name] for name in _KEPT} for row in rows],
    }


if __name__ == "__main__":
    main()
