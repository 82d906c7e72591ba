"""A machine that has no GPU says so, in a verdict that is nobody's fault but ours."""

import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from runners.contract.job import Job
from runners.contract.limits import LIMITS
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import Language, Mode, Verdict
from runners.gpu_health import check_gpu
from runners.sandbox.probe import probe
from runners.supervisor.evaluation import Evaluation
from runners.supervisor.stop import Stop
from tests.engine_cuda.conftest import HOPPER

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.usefixtures("tools"),
    pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="this machine may have a GPU"),
]
_SOURCE = """\
#include <cstdint>
extern "C" void kernel(const float* x, float* y, int64_t count, cudaStream_t stream) {}
"""


def _run(spec: TaskSpec, mode: Mode, folder: Path) -> dict[str, Any]:
    job = Job("test", spec, Language.CUDA, _SOURCE, mode, HOPPER, str(folder))
    limits = LIMITS[mode]
    stop = Stop(time.monotonic() + limits.deadline, limits.deadline)
    return dict(Evaluation(job, probe(), stop, lambda event: None).run())


def test_check_mode_needs_no_gpu(spec: TaskSpec, tmp_path: Path) -> None:
    document = _run(spec, Mode.CHECK, tmp_path)

    assert document["verdict"] == Verdict.PASSED
    assert document["device_seconds"] == 0
    assert document["compile"]["listing"]


def test_test_mode_says_that_there_is_none(spec: TaskSpec, tmp_path: Path) -> None:
    document = _run(spec, Mode.TEST, tmp_path)

    assert document["verdict"] == Verdict.INTERNAL_ERROR
    assert "no CUDA device" in document["reason"]


def test_the_health_check_names_what_is_missing() -> None:
    words = check_gpu(0)

    assert words.startswith("GPU 0 fails its health check: ")
    assert "libcuda" in words
