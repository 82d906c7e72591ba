"""Which devices this machine has. Asks the kernel and nvidia-smi; imports neither torch nor Django."""

import csv
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runners.backends.cpp import toolchain as cpp_toolchain
from runners.backends.cuda import toolchain as cuda_toolchain
from runners.contract.vocabulary import NO_COMPILER, DeviceKind

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}
_GPU_FIELDS = ("index", "name", "driver_version", "memory.total", "compute_cap")


@dataclass(frozen=True)
class DetectedDevice:
    """One device instance. Instances with equal slugs are the same kind of hardware, ranked together."""

    slug: str
    kind: DeviceKind
    name: str  # as people read it
    index: int
    cores: tuple[int, ...]  # CPU cores that a submission may use
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def instance(self) -> str:
        """``cpu`` or ``cuda:<index>``: the name by which a runner is told what to serve."""
        return "cpu" if self.kind == DeviceKind.CPU else f"{self.kind}:{self.index}"


def detect() -> list[DetectedDevice]:
    """The CPU, then every CUDA device in nvidia-smi's order."""
    return [_cpu(), *_gpus()]


def find(name: str) -> DetectedDevice:
    """By slug, kind ("cpu") or kind and index ("cuda:1"). Raises LookupError, which names what there is."""
    devices = detect()
    kind, _, index = name.partition(":")
    for device in devices:
        if name == device.slug or (kind == device.kind and index in ("", str(device.index))):
            return device
    known = ", ".join(f"{device.instance} ({device.slug})" for device in devices)
    raise LookupError(f"this machine has no device {name!r} (found: {known or 'none'})")


def measured_cores() -> tuple[int, ...]:
    """Cores on which submissions run. The first is left to the site, the supervisors and the compilers."""
    usable = tuple(sorted(os.sched_getaffinity(0)))
    return usable[1:] or usable


def cores_beside(measured: Sequence[int] = ()) -> tuple[int, ...]:
    """Cores of this process besides ``measured``, or besides ``measured_cores()``; all where none is left."""
    usable = os.sched_getaffinity(0)
    return tuple(sorted(usable - set(measured or measured_cores()) or usable))


def _cpu() -> DetectedDevice:
    cores = measured_cores()
    model = _processor_name()
    count = f"{len(cores)} core{'s' if len(cores) != 1 else ''}"
    facts = {
        "model": model,
        "cores": len(cores),
        "machine_cores": os.cpu_count(),
        "llc_bytes": _last_level_cache(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "compiler": "g++" if cpp_toolchain.find() else NO_COMPILER,
    }
    return DetectedDevice(
        f"cpu-{_slug(model)}-{len(cores)}c", DeviceKind.CPU, f"{model}, {count}", 0, cores, facts
    )


def _processor_name() -> str:
    for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
        if line.startswith("model name"):
            return re.sub(r"\s+", " ", re.sub(r"\((?:R|TM)\)|CPU|@.*", "", line.partition(":")[2])).strip()
    return os.uname().machine


def _last_level_cache() -> int | None:
    """Bytes of the largest cache that core 0 can reach; None where the kernel does not say."""
    sizes = []
    for path in _CACHES.glob("index*/size"):
        match = re.fullmatch(r"(\d+)([KMG])\s*", path.read_text())
        if match:
            sizes.append(int(match[1]) * _UNITS[match[2]])
    return max(sizes, default=None)


def _gpus() -> list[DetectedDevice]:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    query = [tool, f"--query-gpu={','.join(_GPU_FIELDS)}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return []  # a driver without a working device: as good as none
    return [_gpu(row) for row in csv.reader(done.stdout.splitlines(), skipinitialspace=True) if row]


def _gpu(row: list[str]) -> DetectedDevice:
    values = dict(zip(_GPU_FIELDS, row, strict=True))
    name = values["name"].removeprefix("NVIDIA ")
    facts = {  # public: nothing here tells one card from another of its kind
        "model": name,
        "driver": values["driver_version"],
        "memory_bytes": int(values["memory.total"]) * 2**20,
        "compute_capability": values["compute_cap"],
        **_cuda_compiler(),
    }
    slug = f"cuda-{_slug(name)}"
    return DetectedDevice(slug, DeviceKind.CUDA, name, int(values["index"]), measured_cores(), facts)


def _cuda_compiler() -> dict[str, str]:
    try:
        return {"compiler": "nvcc", "compiler_version": cuda_toolchain.find().release}
    except cuda_toolchain.NoCompilerError:
        return {"compiler": NO_COMPILER}


def _slug(text: str) -> str:
    """Lower-case words joined by hyphens, short enough for a Device's slug with its other parts."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    kept = [word for word in words if word not in ("processor", "with", "graphics", "core")]
    return "-".join(kept)[:50].strip("-") or "unknown"
