"""Fixtures of the whole suite."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runners.backends.cuda import toolchain
from runners.contract.job import DeviceTarget
from runners.sandbox.probe import PROVED, Probe, probe
from runners.supervisor.pool import WarmPool
from tests.devices import own_cpu


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from tests.scheduling import OneProcessForTheBrowser  # needs pytest-xdist, which one process does without

    return OneProcessForTheBrowser(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first: with two test processes, one would else be alone with them at the end."""
    items.sort(key=lambda item: item.get_closest_marker("whole_site") is None)


@pytest.fixture(scope="session")
def proved() -> Probe:
    """The machine's own sandbox. In CI a machine without one is a failure, elsewhere a reason to skip."""
    found = probe()
    if found.layers.get("namespaces") != PROVED and not os.environ.get("CI"):
        pytest.skip(f"no sandbox on this machine: {found.missing()}")
    return found


@pytest.fixture(scope="session")
def tools() -> toolchain.Toolchain:
    """NVIDIA's compiler. In CI a machine without one is a failure, elsewhere a reason to skip."""
    try:
        return toolchain.find()
    except toolchain.NoCompilerError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def engine_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The engine's folder, one for all: what the sandbox keeps out is found out once, and a source compiled
    once.
    """
    return tmp_path_factory.getbasetemp() / "engine-data"


@pytest.fixture(scope="session")
def supervisors(engine_data: Path, proved: Probe) -> Iterator[WarmPool]:
    """A supervisor of its own for each job on the CPU, without loading torch each time."""
    cpu = own_cpu()
    target = DeviceTarget(cpu.kind, 0, cpu.cores, cpu.facts)
    with WarmPool(target, str(engine_data), ahead=False) as pool:
        pool.refill()
        yield pool
