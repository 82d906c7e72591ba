"""A tiny task and short limits, so that every behaviour of the engine is tried for real and quickly."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from runners.contract.job import DeviceTarget, Job
from runners.contract.limits import ModeLimits
from runners.contract.parse import parse_task
from runners.contract.result import ResultDocument
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import DeviceKind, Language, Mode
from runners.sandbox import process_tree
from runners.sandbox.bounds import MIB, Bounds
from runners.sandbox.probe import Probe
from runners.supervisor.evaluation import Evaluation
from runners.supervisor.stop import Stop
from tests.devices import own_cpu
from tests.waiting import wait_for

LIMITS = ModeLimits(deadline=120, compile=60, call=4, case_timing=1.5, warm_up=0.05)
BOUNDS = Bounds(memory=1024 * MIB, processes=24, threads=100)

DOCUMENT: dict[str, Any] = {
    "sizes": ["rows", "cols"],
    "languages": ["python", "cpp"],
    "inputs": [{"name": "x", "dtype": "float32", "shape": ["rows", "cols"]}],
    "outputs": [{"name": "y", "dtype": "float32", "shape": ["rows", "cols"]}],
    "tolerance": {"float32": {"atol": 1e-6, "rtol": 1e-5}},
    "cost": {"bytes": "8 * rows * cols", "flops": "2 * rows * cols", "dtype": "float32"},
    "cases": {
        "cpu": {
            "test": [{"rows": 3, "cols": 5}, {"rows": 7, "cols": 33}, {"rows": 1, "cols": 1}],
            "benchmark": [{"rows": 1024, "cols": 512}],
        }
    },
}
REFERENCE = "def reference(x):\n    return 2 * x + 1\n"
CPP = (
    "#include <cstdint>\n"
    'extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {{\n{}\n}}\n'
)
GOOD_CPP = CPP.format("  for (int64_t i = 0; i < rows * cols; i++) y[i] = 2 * x[i] + 1;")
GOOD_PYTHON = "def kernel(x):\n    return 2 * x + 1\n"

Evaluate = Callable[..., ResultDocument]


@pytest.fixture(scope="session")
def spec() -> TaskSpec:
    return parse_task("double", DOCUMENT, REFERENCE)


@pytest.fixture(scope="session")
def target() -> DeviceTarget:
    cpu = own_cpu()
    return DeviceTarget(cpu.kind, 0, cpu.cores, {"llc_bytes": 2**20})


@pytest.fixture
def make_job(spec: TaskSpec, target: DeviceTarget, engine_data: Path) -> Callable[..., Job]:
    def make(source: str, mode: Mode = Mode.TEST, language: str = "", **changes: Any) -> Job:
        chosen = Language(language or ("cpp" if "#include" in source else "python"))
        values: Mapping[str, Any] = {
            "evaluation": "test",
            "spec": spec,
            "language": chosen,
            "source": source,
            "mode": mode,
            "target": target,
            "data_dir": str(engine_data),
            **changes,
        }
        return Job(**values)

    return make


@pytest.fixture
def evaluate(make_job: Callable[..., Job], proved: Probe) -> Evaluate:
    """Runs a source through the engine in this process, with short limits; returns the result document.

    On a busy machine the engine may find no time above the noise, and says so: then once more, twice at most.
    """

    def run(
        source: str,
        mode: Mode = Mode.TEST,
        *,
        limits: ModeLimits = LIMITS,
        bounds: Bounds = BOUNDS,
        events: list[dict[str, Any]] | None = None,
        **changes: Any,
    ) -> ResultDocument:
        emit = events.append if events is not None else lambda event: None
        for left in (2, 1, 0):
            stop = Stop(time.monotonic() + limits.deadline, limits.deadline)
            document = Evaluation(make_job(source, mode, **changes), proved, stop, emit, bounds, limits).run()
            if not left or "no time above the noise" not in document["reason"]:
                break
            if events is not None:
                events.clear()
        return document

    return run


def make_spec(reference: str = REFERENCE, condition: str = "", **changes: Any) -> TaskSpec:
    """The tiny task with some keys replaced."""
    return parse_task("double", {**DOCUMENT, **changes}, reference, condition)


def cpu_target(**facts: Any) -> DeviceTarget:
    return DeviceTarget(DeviceKind.CPU, 0, own_cpu().cores, facts)


@pytest.fixture
def above_one_that_runs() -> Iterator[int]:
    """A process whose child is busy; below it, as a sandbox's processes are below the sandbox."""
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"
    outer = subprocess.Popen([sys.executable, "-c", code])
    wait_for("the busy child", lambda: bool(process_tree.descendants(outer.pid)))
    yield outer.pid
    process_tree.kill(outer.pid)
    outer.kill()
    outer.wait()
