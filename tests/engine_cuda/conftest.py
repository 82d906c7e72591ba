"""A small task with CUDA cases, and a workshop."""

import time
from pathlib import Path

import pytest

from runners.contract.job import DeviceTarget
from runners.contract.parse import parse_task
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import DeviceKind
from runners.sandbox.spawn import Layers
from runners.supervisor.stop import Stop
from runners.supervisor.workshop import SandboxedWorkshop

HOPPER = DeviceTarget(DeviceKind.CUDA, facts={"compute_capability": "9.0"})


@pytest.fixture
def workshop(tmp_path: Path) -> SandboxedWorkshop:
    # CUB's headers take a minute on a busy machine; how long a submission's may take is not what is tested.
    return SandboxedWorkshop(str(tmp_path), 300, Layers(), Stop(time.monotonic() + 330, 330))


@pytest.fixture(scope="session")
def spec() -> TaskSpec:
    sizes = [{"count": 1000}]
    return parse_task(
        "doubling",
        {
            "languages": ["cuda"],
            "sizes": ["count"],
            "inputs": [{"name": "x", "dtype": "float32", "shape": ["count"]}],
            "outputs": [{"name": "y", "dtype": "float32", "shape": ["count"]}],
            "tolerance": {"float32": {"atol": 0.0, "rtol": 1e-6}},
            "cost": {"bytes": "8 * count", "flops": "count", "dtype": "float32"},
            "cases": {"cuda": {"test": sizes, "benchmark": [{"count": 200_000}]}},
        },
        "def reference(x):\n    return x * 2\n",
    )
