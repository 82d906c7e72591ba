"""Building and running jobs on one GPU of this machine: the first, or the one that $GPU numbers."""

import os
import tempfile
import time
from functools import cache
from typing import Any

from runners.calibrate import measure_ceilings
from runners.contract.job import DeviceTarget, Job
from runners.contract.result import ResultDocument
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import DeviceKind, Language, Mode
from runners.devices import DetectedDevice, detect
from runners.supervisor.client import run_job


@cache
def device() -> DetectedDevice:
    """Raises RuntimeError on a machine without such a GPU."""
    wanted = int(os.environ.get("GPU", "0"))
    for found in detect():
        if found.kind == DeviceKind.CUDA and found.index == wanted:
            return found
    raise RuntimeError(f"nvidia-smi shows no GPU {wanted}")


@cache
def ceilings() -> dict[str, Any]:
    """The device's rates, measured once a process: floors are judged as on a site."""
    found = device()
    return measure_ceilings(DeviceTarget(found.kind, found.index, found.cores, found.facts))


@cache
def data_dir() -> str:
    return tempfile.mkdtemp(prefix="kernelhub-gpu-")


def evaluate(
    spec: TaskSpec,
    language: Language,
    source: str,
    mode: Mode,
    *,
    cores: tuple[int, ...] = (),
    rates: dict[str, Any] | None = None,
) -> ResultDocument:
    """One evaluation in a supervisor of its own, with ``rates`` in place of the device's ``ceilings``. Adds
    ``first_test``: seconds until the first test case was done.
    """
    found = device()
    judged = ceilings() if rates is None else rates
    target = DeviceTarget(found.kind, found.index, cores or found.cores, found.facts, judged)
    job = Job("gpu", spec, language, source, mode, target, data_dir())
    start = time.monotonic()
    first: list[float] = []

    def on_event(event: dict[str, Any]) -> None:
        if event["type"] == "test" and not first:
            first.append(time.monotonic() - start)

    document = run_job(job, on_event=on_event, should_stop=lambda: False)
    if first:
        document["environment"]["first_test_seconds"] = first[0]
    return document


def stages(document: ResultDocument) -> str:
    """``screen 0.0 compile 1.2 …`` in seconds."""
    done = [item for item in document["stages"] if "seconds" in item]
    return " ".join(f"{item['stage']} {item['seconds']:.1f}" for item in done)


def microseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e6:.3f}"
