"""What is read of a GPU by a tool that answers as nvidia-smi does. Facts are shown to everybody."""

from pathlib import Path

import pytest

from runners.backends.cuda import toolchain
from runners.contract.vocabulary import NO_COMPILER, DeviceKind
from runners.devices import DetectedDevice, detect

_TOOL = """#!/bin/sh
for word in "$@"; do case "$word" in --query-gpu=*) fields="${word#--query-gpu=}";; esac; done
echo "$fields" | sed -e 's/index/1/; s/uuid/GPU-13fa/; s/driver_version/580.1/; s/memory.total/81559/' \\
    -e 's/compute_cap/9.0/; s/name/NVIDIA H100 PCIe/; s/,/, /g'
"""


@pytest.fixture
def smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text(_TOOL)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


def _gpu() -> DetectedDevice:
    (gpu,) = (found for found in detect() if found.kind == DeviceKind.CUDA)
    return gpu


@pytest.mark.usefixtures("smi")
def test_facts_do_not_tell_one_card_from_another() -> None:
    gpu = _gpu()

    assert (gpu.index, gpu.name, gpu.slug) == (1, "H100 PCIe", "cuda-h100-pcie")
    assert gpu.facts["driver"] == "580.1"
    assert not any("GPU-" in str(value) for value in gpu.facts.values())


@pytest.mark.usefixtures("smi")
def test_facts_name_the_compiler_and_its_release(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = toolchain.Toolchain("/opt/nvcc", "/opt", "13.0.88", None)
    monkeypatch.setattr(toolchain, "find", lambda: chain)
    assert (_gpu().facts["compiler"], _gpu().facts["compiler_version"]) == ("nvcc", "13.0.88")


@pytest.mark.usefixtures("smi")
def test_facts_say_that_there_is_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def find() -> toolchain.Toolchain:
        raise toolchain.NoCompilerError("none here")

    monkeypatch.setattr(toolchain, "find", find)
    assert _gpu().facts["compiler"] == NO_COMPILER
    assert "compiler_version" not in _gpu().facts
