"""Phases side by side, each lane with a GPU and a share of the cores of its own.

The lanes' words come one lane after the other when all are done; what they wrote is in $OUT as usual.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from runners.contract.vocabulary import DeviceKind
from runners.devices import detect

BETWEEN = "/"


def split(words: Sequence[str]) -> list[list[str]]:
    """``["a", "b", "/", "c"]`` → ``[["a", "b"], ["c"]]``."""
    lanes: list[list[str]] = [[]]
    for word in words:
        if word == BETWEEN:
            lanes.append([])
        else:
            lanes[-1].append(word)
    return [lane for lane in lanes if lane]


def run(lanes: Sequence[Sequence[str]]) -> int:
    """The exit status: zero when every phase of every lane passed. Raises RuntimeError without enough GPUs.

    ``NAME=value`` among a lane's words is set for that lane alone. $LANE_SECONDS ends a lane; the phases
    that it has done stay.
    """
    gpus = [device.index for device in detect() if device.kind == DeviceKind.CUDA]
    if len(gpus) < len(lanes):
        raise RuntimeError(f"{len(lanes)} lanes need as many GPUs; nvidia-smi shows {len(gpus)}")
    cores = sorted(os.sched_getaffinity(0))
    share = len(cores) // len(lanes)
    taskset, timeout = shutil.which("taskset"), shutil.which("timeout")
    if taskset is None or timeout is None:
        raise RuntimeError("lanes need taskset and timeout, each its own cores and an end")
    within = [timeout, "--kill-after=5", os.environ.get("LANE_SECONDS", "0")]  # 0: as long as it takes
    with tempfile.TemporaryDirectory() as folder:
        started = []
        for number, words in enumerate(lanes):
            own = ",".join(map(str, cores[number * share : (number + 1) * share]))
            settings = dict(word.split("=", 1) for word in words if "=" in word)
            phases = [word for word in words if "=" not in word]
            log = Path(folder, f"{number}.txt")
            with log.open("wb") as lines:
                process = subprocess.Popen(
                    [*within, taskset, "-c", own, sys.executable, "-m", "tests.gpu.run", *phases],
                    env={**os.environ, **settings, "GPU": str(gpus[number])},
                    stdout=lines,
                    stderr=subprocess.STDOUT,
                )
            started.append((process, log))
        statuses = []
        for process, log in started:
            statuses.append(process.wait())
            sys.stdout.write(log.read_text(errors="replace"))
            sys.stdout.flush()
    return int(any(statuses))
