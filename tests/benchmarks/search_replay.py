"""Puts the outputs of ``manage.py search_replay --json`` together: one file of results, and its tables.

``python -m tests.benchmarks.search_replay results/search_replay.json part.json …`` writes the first file from
the others, which may hold other devices or other arms, and prints Markdown.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from leaderboard.search.scoring import interval

_COUNTS = ("20", "50", "100")


def main() -> None:
    target, *parts = map(Path, sys.argv[1:])
    documents = [json.loads(part.read_text()) for part in parts]
    pools: dict[str, dict[str, Any]] = {}
    for document in documents:
        for device, arms in document["pools"].items():
            pools.setdefault(device, {}).update(arms)
    names = [name for name in next(iter(pools.values())) if all(name in arms for arms in pools.values())]
    merged = {
        "command": sorted({document["command"] for document in documents}),
        "machine": documents[0]["machine"],
        "value": documents[0]["value"],
        "mean of the pools": {name: _mean([arms[name] for arms in pools.values()]) for name in names},
        "pools": {
            device: {name: _mean([numbers]) for name, numbers in arms.items()}
            for device, arms in pools.items()
        },
    }
    target.write_text(json.dumps(merged, indent=1) + "\n")
    _print(merged)


def _mean(numbers: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over seeds and pools, with 95 % intervals over seeds: the pools are what they are."""
    found: dict[str, Any] = {}
    for count in (item for item in _COUNTS if item in numbers[0]):
        ratios = np.array([item[count]["found_over_optimum"] for item in numbers])
        scores = np.array([item[count]["score"] for item in numbers])
        found[count] = {
            "found_over_optimum": _round(ratios.mean()),
            "interval": [_round(value) for value in interval(ratios)],
            "median": _round(np.median(ratios, axis=1).mean()),
            "within_10_percent": _round((ratios <= 1.1).mean()),
            "random_draws": _round(np.mean([item[count]["random_draws"] for item in numbers])),
            "score": _round(scores.mean()),
            "score_interval": [_round(value) for value in interval(scores)],
            "seeds": ratios.shape[1],
        }
    for key in ("considered", "audits", "failed", "skipped", "skipped_better", "seconds_per_search"):
        found[key] = _round(np.mean([item[key] for item in numbers]))
    return found


def _print(merged: dict[str, Any]) -> None:
    first = next(iter(merged["mean of the pools"].values()))
    counts = [count for count in _COUNTS if count in first]
    head = f"| policy | {' | '.join(counts)} | score to {counts[-1]} |"
    _say(f"{head}\n{'|---' * (len(counts) + 2)}|")
    for name, found in merged["mean of the pools"].items():
        last = found[counts[-1]]
        cells = [
            f"{found[count]['found_over_optimum']:.3f} [{found[count]['interval'][0]:.3f}, "
            f"{found[count]['interval'][1]:.3f}]"
            for count in counts
        ]
        low, high = last["score_interval"]
        _say(f"| {name} | {' | '.join(cells)} | {last['score']:.3f} [{low:.3f}, {high:.3f}] |")
    devices = list(merged["pools"])
    _say(f"\n| after 50 | {' | '.join(devices)} |\n{'|---' * (len(devices) + 1)}|")
    for name in merged["mean of the pools"]:
        cells = [f"{merged['pools'][device][name]['50']['found_over_optimum']:.3f}" for device in devices]
        _say(f"| {name} | {' | '.join(cells)} |")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _round(value: Any) -> float:
    return float(f"{float(value):.4g}")


if __name__ == "__main__":
    main()
