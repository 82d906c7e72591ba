"""What it takes to use one NVIDIA GPU and no other: device nodes, the driver's libraries, /sys."""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_DRIVER = "libcuda.so.1"
_FOLDERS = (
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/lib/wsl/lib",
)
_SHARED_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
_GPUS = Path("/proc/driver/nvidia/gpus")


@dataclass(frozen=True)
class GpuAccess:
    """What a sandbox lets through; paths that exist on this machine."""

    devices: Sequence[str]
    paths: Sequence[str]
    environment: Mapping[str, str]


def gpu_access(index: int, gpus: Path = _GPUS) -> GpuAccess:
    """Access to the GPU that nvidia-smi numbers ``index``. Inside, it is the only one."""
    nodes = [*_SHARED_NODES, f"/dev/nvidia{_minor(index, gpus)}"]
    folder = driver_folder()
    # Triton looks for the driver on its own and would not find it in a folder that the loader does not know.
    names = ("LD_LIBRARY_PATH", "TRITON_LIBCUDA_PATH") if folder else ()
    return GpuAccess(
        devices=[node for node in nodes if os.path.exists(node)],
        # cuInit reads the PCI topology below /sys; without it, it fails with error 304.
        paths=[path for path in ("/sys", folder) if path and os.path.isdir(path)],
        environment=dict.fromkeys(names, folder),
    )


def environment(index: int) -> dict[str, str]:
    """For a trusted process outside: this GPU only, in nvidia-smi's numbering, and the way to the driver."""
    folder = driver_folder()
    chosen = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": str(index)}
    return {**chosen, "LD_LIBRARY_PATH": folder} if folder else chosen


@cache
def driver_folder() -> str:
    """Where the driver's libraries lie when no configuration of the loader names the place; else empty."""
    for tool in ("/sbin/ldconfig", "/usr/sbin/ldconfig"):
        if os.path.exists(tool):
            done = subprocess.run([tool, "-p"], capture_output=True, text=True, errors="replace", check=False)
            if _DRIVER in done.stdout:
                return ""
            break
    return next((folder for folder in _FOLDERS if os.path.exists(f"{folder}/{_DRIVER}")), "")


def _minor(index: int, gpus: Path) -> int:
    """The number in the device node's name, which need not be the index."""
    try:
        folders = {folder.name.lower(): folder for folder in gpus.iterdir()}
        addresses = _addresses() or sorted(folders)  # the index follows the PCI bus
        text = folders[addresses[index]].joinpath("information").read_text(errors="replace")
    except (OSError, IndexError, KeyError):
        return index
    minor = re.search(r"Device Minor:\s*(\d+)", text)
    return int(minor[1]) if minor else index


def pci_address(index: int) -> str:
    """Where on the PCI bus the GPU that nvidia-smi numbers ``index`` is; empty where that is not known."""
    addresses = _addresses()
    return addresses[index] if index < len(addresses) else ""


def _addresses() -> tuple[str, ...]:
    """PCI addresses by nvidia-smi's index, as the driver names its folders; a container may have been given
    fewer GPUs than the driver lists there. Empty where nvidia-smi does not tell.
    """
    try:
        return _told_addresses()
    except (OSError, subprocess.SubprocessError):
        return ()  # and asked again the next time: a GPU that hung may have come back


@cache
def _told_addresses() -> tuple[str, ...]:
    command = ["nvidia-smi", "--query-gpu=pci.bus_id", "--format=csv,noheader"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    return tuple(line.strip().lower()[-len("0000:00:00.0") :] for line in done.stdout.splitlines())
