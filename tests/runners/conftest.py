from collections.abc import Callable

import pytest
from django.utils import timezone

from runners.contract.parse import parse_task
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import DeviceKind, Language, Mode
from runners.models import Device, Evaluation, Lane, Runner
from runners.services import evaluations, kernels

REFERENCE = "def reference(x):\n    return x * 2\n"


@pytest.fixture(scope="session")
def spec() -> TaskSpec:
    document = {
        "sizes": ["n"],
        "inputs": [{"name": "x", "dtype": "float32", "shape": ["n"]}],
        "outputs": [{"name": "y", "dtype": "float32", "shape": ["n"]}],
        "tolerance": {"float32": {"atol": 0.0, "rtol": 1e-6}},
        "languages": ["python", "cpp"],
        "cost": {"bytes": "8 * n", "flops": "n", "dtype": "float32"},
        "cases": {"cpu": {"test": [{"n": 5}], "benchmark": [{"n": 1000, "fits_in_cache": "a test"}]}},
    }
    return parse_task("double", document, REFERENCE)


@pytest.fixture
def device(db: None) -> Device:
    return Device.objects.create(slug="cpu-test", kind=DeviceKind.CPU, name="a test CPU")


@pytest.fixture
def make_runner(device: Device) -> Callable[[], Runner]:
    def make() -> Runner:
        return Runner.objects.create(
            device=device, host="here", pid=1, tier="T2", heartbeat_at=timezone.now()
        )

    return make


@pytest.fixture
def enqueue(device: Device, spec: TaskSpec) -> Callable[..., Evaluation]:
    def make(mode: Mode = Mode.TEST, lane: Lane = Lane.PERSON) -> Evaluation:
        kernel = kernels.store_kernel(language=Language.PYTHON, source="def kernel(x):\n    return x * 2\n")
        document = kernels.store_spec(spec=spec)
        return evaluations.enqueue(kernel=kernel, spec=document, device=device, mode=mode, lane=lane)

    return make
