"""What this machine is, and which layers of the sandbox a CUDA process survives."""

import hashlib
import os
import platform
import subprocess
import time
from collections.abc import Mapping
from functools import cache
from typing import Any

from runners.backends.cuda import toolchain
from runners.calibrate import measure_ceilings
from runners.contract.job import DeviceTarget
from runners.gpu_health import check_gpu
from runners.sandbox import nvidia
from runners.sandbox.bounds import Bounds
from runners.sandbox.probe import probe_cached
from runners.sandbox.spawn import Layers
from runners.supervisor.child import Child, Died
from runners.supervisor.environment import ENGINE_VERSION
from runners.supervisor.outcome import Ended
from runners.supervisor.plan import plan_for
from runners.supervisor.stop import Stop
from tests.gpu import jobs

_COMBINATIONS = {
    "none": Layers(False, False, False),
    "namespaces": Layers(False, False, True),
    "namespaces, landlock": Layers(True, False, True),
    "namespaces, seccomp": Layers(False, True, True),
    "all": Layers(True, True, True),
}


@cache
def facts() -> dict[str, Any]:
    """Card, driver and versions: on every result."""
    card: Mapping[str, Any] = {}
    card_hash = None
    try:
        card = jobs.device().facts
        card_hash = _card_hash(jobs.device().index)
    except RuntimeError:
        pass  # no GPU: the versions count all the same
    versions = {}
    for name in ("torch", "triton", "numpy"):
        try:
            versions[name] = __import__("importlib.metadata", fromlist=["version"]).version(name)
        except ImportError:
            versions[name] = None
    return {
        "card": card.get("model"),
        "card_hash": card_hash,
        "driver": card.get("driver"),
        "compute_capability": card.get("compute_capability"),
        "nvcc": card.get("compiler_version"),
        "engine": ENGINE_VERSION,
        "python": platform.python_version(),
        "kernel": platform.release(),
        **versions,
    }


def _card_hash(index: int) -> str | None:
    """Tells one card from another without naming it: a serial number is nobody's business but the owner's."""
    query = ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader", "-i", str(index)]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return hashlib.sha256(done.stdout.strip().encode()).hexdigest()[:8]


def describe() -> dict[str, Any]:
    device = jobs.device()
    found: dict[str, Any] = {
        "uid": os.getuid(),
        "cores": sorted(os.sched_getaffinity(0)),
        "device": device.facts,
        "probe": probe_cached(jobs.data_dir()),
        "access": nvidia.gpu_access(device.index),
        "environment": nvidia.environment(device.index),
        "nodes": sorted(name for name in os.listdir("/dev") if name.startswith("nvidia")),
        "toolchain": toolchain.find(),
        "ceilings": measure_ceilings(DeviceTarget(device.kind, device.index, device.cores)),
        "smi": _output(["nvidia-smi"]),
        "health": check_gpu(device.index),
        "mig_or_mode": _output(["nvidia-smi", "--query-gpu=compute_mode,persistence_mode", "--format=csv"]),
    }
    summary = [f"{key}: {value}" for key, value in found.items() if key != "smi"]
    return {"ok": found["probe"].tier == "T2" and not found["health"], "summary": summary, **found}


def layers() -> dict[str, Any]:
    """Starts the harness for ``cuda`` and for ``python`` under each set of layers, until it says "ready"."""
    results: dict[str, Any] = {}
    for name, chosen in _COMBINATIONS.items():
        for kind in ("library", "python"):
            results[f"{kind}, {name}"] = _start(kind, chosen)
    return {
        "ok": all(item["ready"] for item in results.values()),
        "results": results,
        "summary": [
            f"{name}: {item['seconds']:.2f} s" if item["ready"] else f"{name}: {item['words']}"
            for name, item in results.items()
        ],
    }


def _start(kind: str, chosen: Layers) -> dict[str, Any]:
    found = jobs.device()
    target = DeviceTarget(found.kind, found.index, found.cores, found.facts)
    start = time.monotonic()
    child = Child(plan_for(target, kind, Bounds(), chosen), Stop(start + 60, 60))
    try:
        child.expect("ready", 50, "Starting")
        return {"ready": True, "seconds": time.monotonic() - start}
    except (Died, Ended) as error:
        words = child.output()[1].strip().splitlines()[-6:]
        return {"ready": False, "seconds": time.monotonic() - start, "words": f"{error} {words}"}
    finally:
        child.close()


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr
