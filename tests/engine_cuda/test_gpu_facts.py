"""What is read of a GPU by a tool that answers as nvidia-smi does. Facts are shown to everybody."""

from pathlib import Path

import pytest

from runners.contract.vocabulary import DeviceKind
from runners.devices import detect

_TOOL = """#!/bin/sh
for word in "$@"; do case "$word" in --query-gpu=*) fields="${word#--query-gpu=}";; esac; done
echo "$fields" | sed -e 's/index/1/; s/uuid/GPU-13fa/; s/driver_version/580.1/; s/memory.total/81559/' \\
    -e 's/compute_cap/9.0/; s/name/NVIDIA H100 PCIe/; s/,/, /g'
"""


def test_facts_do_not_tell_one_card_from_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text(_TOOL)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    (gpu,) = (found for found in detect() if found.kind == DeviceKind.CUDA)

    assert (gpu.index, gpu.name, gpu.slug) == (1, "H100 PCIe", "cuda-h100-pcie")
    assert gpu.facts["driver"] == "580.1"
    assert not any("GPU-" in str(value) for value in gpu.facts.values())
