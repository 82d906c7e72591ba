"""One at a time on a device: among those of a data folder, on a GPU among all of the host."""

import uuid
from contextlib import suppress
from pathlib import Path

import pytest

from runners.contract.vocabulary import DeviceKind
from runners.devices import DetectedDevice
from runners.instance_lock import InstanceTaken, lock_device, lock_instance
from runners.sandbox import nvidia


def gpu(index: int) -> DetectedDevice:
    return DetectedDevice("cuda-test", DeviceKind.CUDA, "Test", index, ())


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch) -> dict[int, str]:
    """Places on the PCI bus by index, of cards that no machine has."""
    places = {index: f"{uuid.uuid4()}" for index in (0, 1)}
    monkeypatch.setattr(nvidia, "pci_address", lambda index: places.get(index, ""))
    return places


@pytest.mark.usefixtures("cards")
def test_two_data_folders_share_the_lock_of_a_gpu(tmp_path: Path) -> None:
    with (
        lock_device(tmp_path / "one", gpu(0)),
        pytest.raises(InstanceTaken, match="cuda:0 is in use by another runner or evaluation on this host"),
    ):
        lock_device(tmp_path / "two", gpu(0))
    with lock_device(tmp_path / "two", gpu(0)):
        pass


@pytest.mark.usefixtures("cards")
def test_another_gpu_and_the_cpu_are_free(tmp_path: Path) -> None:
    cpu = DetectedDevice("cpu-test", DeviceKind.CPU, "Test", 0, (0,))
    with lock_device(tmp_path, gpu(0)), lock_device(tmp_path, gpu(1)), lock_device(tmp_path, cpu):
        pass


def test_the_card_counts_and_not_its_number(tmp_path: Path, cards: dict[int, str]) -> None:
    """A container may number the same card otherwise."""
    cards[1] = cards[0]
    with lock_device(tmp_path / "one", gpu(0)), pytest.raises(InstanceTaken):
        lock_device(tmp_path / "two", gpu(1))


@pytest.mark.usefixtures("cards")
def test_one_that_is_refused_keeps_nothing(tmp_path: Path) -> None:
    with lock_device(tmp_path / "one", gpu(0)):
        with suppress(InstanceTaken):
            lock_device(tmp_path / "two", gpu(0))
        with lock_instance(tmp_path / "two", "cuda:0"):
            pass
