"""How long after it was handed in a submission has its first test result and its verdict.

    python -m tests.benchmarks.verdict_latency > tests/benchmarks/results/verdict_latency_cpu.json

On the CPU; ``bash tests/gpu/run_all.sh latency`` does the same on a GPU. Test mode of the softmax task, and
ranked runs until their first test result, from
the call of ``run_job`` on: what the queue adds is not in it. ``cold`` starts a supervisor and sandboxes for
the job, ``warm`` takes those that were started ahead and have come to rest. A ``new`` source has never been
compiled before.
"""

import argparse
import json
import os
import platform
import secrets
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from leaderboard.catalog import loader
from runners.contract.job import DeviceTarget, Job
from runners.contract.vocabulary import Language, Mode
from runners.devices import detect
from runners.sandbox import process_tree
from runners.supervisor.client import run_job
from runners.supervisor.pool import WarmPool
from tests.at_rest import wait_until_at_rest

_TASK = loader.load(loader.CATALOG / "softmax")


@dataclass(frozen=True)
class Entry:
    """A submission to try. ``compiled`` ones are tried as new sources and as known ones."""

    name: str
    language: Language
    source: str
    compiled: bool = False
    most_repeats: int = 9
    #: A ranked run is ended after its first test result: what is timed then is no matter of latency.
    mode: Mode = Mode.TEST


def fixture(name: str) -> str:
    """The text of one of the softmax task's good submissions."""
    return next(item for item in _TASK.good if item.path.name == name).path.read_text()


CPU_ENTRIES = (
    Entry("cpp", Language.CPP, fixture("fused_rows.cpp"), compiled=True),
    Entry("python", Language.PYTHON, fixture("in_place.py")),
    Entry("cpp, ranked", Language.CPP, fixture("fused_rows.cpp"), compiled=True, mode=Mode.RANKED),
)


def measure(
    target: DeviceTarget,
    entries: Sequence[Entry],
    repeats: int,
    starts: Sequence[str] = ("cold", "warm"),
) -> list[dict[str, Any]]:
    """One row per entry and way of starting it, with every reading in seconds."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="kernelhub-latency-") as folder:
        _once(_job(entries[0], "", target, folder), None)  # finds out what the sandbox can, once per machine
        with WarmPool(target, folder) as pool:
            for entry in entries:
                for start in starts:
                    chosen = pool if start == "warm" else None
                    rows += _rows(entry, start, chosen, target, folder, min(repeats, entry.most_repeats))
    return rows


def _rows(
    entry: Entry, start: str, pool: WarmPool | None, target: DeviceTarget, folder: str, repeats: int
) -> list[dict[str, Any]]:
    known = f"{start} known"
    ways: Mapping[str, Callable[[], str]] = {"": lambda: known}
    if entry.compiled:
        ways = {"new": lambda: secrets.token_hex(8), "known": lambda: known}
        _once(_job(entry, known, target, folder), None)
    rows = []
    for source, mark in ways.items():
        readings = []
        for _ in range(repeats):
            if pool is not None:
                _bring_to_rest(pool)
            readings.append(_once(_job(entry, mark(), target, folder), pool))
        rows.append(
            {
                "submission": entry.name,
                "mode": entry.mode,
                "start": start,
                "source": source or None,
                "verdicts": sorted({reading["verdict"] for reading in readings}),
                "reasons": sorted({reading["reason"] for reading in readings} - {""}),
                "first_test": _summary([reading["first_test"] for reading in readings]),
                "verdict": _summary([reading["end"] for reading in readings]),
                "load": round(os.getloadavg()[0], 2),
            }
        )
    return rows


def _once(job: Job, pool: WarmPool | None) -> dict[str, Any]:
    start = time.monotonic()
    first: list[float] = []

    def on_event(event: Mapping[str, Any]) -> None:
        if event["type"] == "test" and not first:
            first.append(time.monotonic() - start)

    should_stop = (lambda: bool(first)) if job.mode == Mode.RANKED else lambda: False
    document = run_job(job, on_event=on_event, should_stop=should_stop, pool=pool)
    return {
        "verdict": document["verdict"],
        "reason": document["reason"][:300],
        "first_test": first[0] if first else None,
        "end": time.monotonic() - start,
    }


def _job(entry: Entry, mark: str, target: DeviceTarget, folder: str) -> Job:
    """``mark`` makes the source another one without making it do anything else."""
    comment = "#" if entry.language == Language.PYTHON else "//"
    source = f"{entry.source}\n{comment} {mark}\n"
    return Job("latency", _TASK.spec, entry.language, source, entry.mode, target, folder)


def _bring_to_rest(pool: WarmPool) -> None:
    """Waits until the one that waits, and its sandboxes, have done all that can be done ahead."""
    pool.refill()
    if pool.waiting is None:
        raise RuntimeError("the pool started nothing")
    waiting = pool.waiting
    wait_until_at_rest(lambda: [waiting, *process_tree.descendants(waiting)])


def _summary(readings: Sequence[float | None]) -> dict[str, Any]:
    seconds = [item for item in readings if item is not None]
    return {
        "median": round(statistics.median(seconds), 3) if seconds else None,
        "all": [round(item, 3) for item in seconds],
    }


def lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """One line per row, for a screen."""
    return [
        f"{row['submission']:12} {row['start']} {row['source'] or '':5} "
        f"first test {row['first_test']['median']} s, verdict {row['verdict']['median']} s "
        f"{', '.join(row['verdicts'])} {' '.join(row['reasons'])[:150]}"
        for row in rows
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    found = detect()[0]
    target = DeviceTarget(found.kind, found.index, found.cores, found.facts)
    rows = measure(target, CPU_ENTRIES, repeats)
    document = {
        "command": " ".join(["python -m tests.benchmarks.verdict_latency", *sys.argv[1:]]),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": {
            "device": found.name,
            "cores": os.cpu_count(),
            "kernel": platform.release(),
            "python": platform.python_version(),
            "torch": version("torch"),
        },
        "note": "load is the machine's mean load over a minute when the row was done",
        "rows": rows,
    }
    sys.stdout.write(json.dumps(document, indent=1) + "\n")
    sys.stderr.write("\n".join(lines(rows)) + "\n")


if __name__ == "__main__":
    main()
