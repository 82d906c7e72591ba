"""How often equal kernels would rank apart on a CPU: one kernel entered many times.

    python -m tests.benchmarks.equal_kernels --runs 10 > tests/benchmarks/results/equal_kernels_cpu.json

Either half is taken for the device's record, from which its noise is learned, and the other ranked by it.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from runners.contract.job import DeviceTarget
from runners.contract.vocabulary import Verdict
from runners.devices import detect
from runners.noise import noise_job, spread
from runners.quiet import wait_for_quiet
from runners.supervisor.client import run_job
from runners.supervisor.environment import ENGINE_VERSION, environment
from tests.gpu.repeats import halves


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=10)
    runs = parser.parse_args().runs
    cpu = detect()[0]
    quiet = wait_for_quiet(0)
    scores: list[Any] = []
    loads: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        job = noise_job(DeviceTarget(cpu.kind, cpu.index, cpu.cores, cpu.facts), Path(folder), "T2")
        for number in range(1, runs + 1):
            document = run_job(job, on_event=lambda event: None, should_stop=lambda: False)
            if document["verdict"] != Verdict.PASSED or document["score"] is None:
                sys.exit(f"run {number}: {document['verdict']}: {document['reason']}")
            scores.append(document["score"])
            loads.append(os.getloadavg()[0])
            sys.stderr.write(f"run {number}: {scores[-1]['seconds']:.6g} s, load {loads[-1]:.1f}\n")
    report = {
        "command": f"python -m tests.benchmarks.equal_kernels --runs {runs}",
        "date": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
        "machine": {"device": cpu.name, "cores": len(cpu.cores), **environment()},
        "engine": ENGINE_VERSION,
        "load": {"at_start": quiet.load, "was_quiet": quiet.load < 0.15, "averages": loads},
        "coefficient_of_variation": spread([score["seconds"] for score in scores]),
        "halves": halves(scores),
        "scores": scores,
    }
    json.dump(report, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
