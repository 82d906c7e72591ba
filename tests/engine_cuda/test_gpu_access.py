"""What is found out about GPUs, tried without one."""

from pathlib import Path

import pytest

from runners.sandbox import nvidia
from runners.supervisor import gpu_state


def _gpu(folder: Path, bus: str, minor: int) -> None:
    (folder / bus).mkdir()
    (folder / bus / "information").write_text(f"Model: \t NVIDIA H100\nDevice Minor: \t {minor}\n")


def test_the_device_node_follows_the_driver_and_not_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _gpu(tmp_path, "0000:9b:00.0", 0)
    _gpu(tmp_path, "0000:19:00.0", 3)
    monkeypatch.setattr(nvidia.os.path, "exists", lambda path: str(path).startswith("/dev/nvidia"))
    monkeypatch.setattr(nvidia, "_addresses", lambda: ())

    first, second = (nvidia.gpu_access(index, tmp_path).devices for index in (0, 1))

    assert "/dev/nvidia3" in first
    assert "/dev/nvidia0" in second
    assert "/dev/nvidia0" not in first


def test_a_container_with_some_of_the_gpus_uses_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for minor, bus in enumerate(("0000:19:00.0", "0000:3b:00.0", "0000:9b:00.0")):
        _gpu(tmp_path, bus, minor)
    smi = tmp_path / "bin" / "nvidia-smi"
    smi.parent.mkdir()
    smi.write_text("#!/bin/sh\necho 00000000:3B:00.0\necho 00000000:9B:00.0\n")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", f"{smi.parent}:/usr/bin:/bin")
    monkeypatch.setattr(nvidia.os.path, "exists", lambda path: str(path).startswith("/dev/nvidia"))
    nvidia._told_addresses.cache_clear()
    try:
        first, second = (nvidia.gpu_access(index, tmp_path).devices for index in (0, 1))
    finally:
        nvidia._told_addresses.cache_clear()

    assert "/dev/nvidia1" in first
    assert "/dev/nvidia2" in second
    assert "/dev/nvidia0" not in (*first, *second)


def test_a_driver_that_does_not_answer_once_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    smi = tmp_path / "nvidia-smi"
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    nvidia._told_addresses.cache_clear()
    try:
        smi.write_text("#!/bin/sh\nexit 1\n")
        smi.chmod(0o755)
        assert nvidia.pci_address(1) == ""
        smi.write_text("#!/bin/sh\necho 00000000:3B:00.0\necho 00000000:9B:00.0\n")
        assert nvidia.pci_address(1) == "0000:9b:00.0"
        smi.write_text("#!/bin/sh\nexit 1\n")
        assert nvidia.pci_address(0) == "0000:3b:00.0", "what it told is kept"
        assert nvidia.pci_address(2) == ""
    finally:
        nvidia._told_addresses.cache_clear()


def test_without_a_driver_nothing_is_let_through(tmp_path: Path) -> None:
    assert all(Path(node).exists() for node in nvidia.gpu_access(0, tmp_path / "missing").devices)


def test_a_driver_outside_the_loaders_configuration_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "libcuda.so.1").touch()
    monkeypatch.setattr(nvidia, "_FOLDERS", (str(tmp_path),))
    nvidia.driver_folder.cache_clear()
    try:
        folder = nvidia.driver_folder()
        if not folder:
            pytest.skip("the loader of this machine knows a driver")
        assert nvidia.environment(1) == {
            "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
            "CUDA_VISIBLE_DEVICES": "1",
            "LD_LIBRARY_PATH": str(tmp_path),
        }
        inside = nvidia.gpu_access(1)
        assert inside.environment == {"LD_LIBRARY_PATH": str(tmp_path), "TRITON_LIBCUDA_PATH": str(tmp_path)}
        assert str(tmp_path) in inside.paths
    finally:
        nvidia.driver_folder.cache_clear()


def test_throttling_is_told_from_idling() -> None:
    assert gpu_state.slowing(0x1 | 0x2) == []
    assert gpu_state.slowing(0x40 | 0x4 | 0x1) == ["power cap", "hardware thermal limit"]


def test_without_the_management_library_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(gpu_state.ctypes, "CDLL", missing)

    assert gpu_state.GpuState().read() == {}
