"""Facts about the machine that a result is worth little without."""

import platform
import shutil
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ENGINE_VERSION = "6"


def environment() -> dict[str, Any]:
    """Versions, processor, governor and load."""
    return {
        **_versions(),
        "governor": _line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "load": _line("/proc/loadavg"),
    }


@cache
def _versions() -> dict[str, Any]:
    compiler = shutil.which("g++", path="/usr/local/bin:/usr/bin:/bin")
    compiler_version = ""
    if compiler:
        done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
        compiler_version = done.stdout.partition("\n")[0]
    return {
        "python": platform.python_version(),
        "torch": version("torch"),
        "numpy": version("numpy"),
        **_triton(),
        "compiler": compiler_version,
        "kernel": platform.release(),
        "machine": platform.machine(),
        "processor": _processor(),
    }


def _triton() -> dict[str, str]:
    """Its version where it is installed; machines without a GPU have no use for it."""
    try:
        return {"triton": version("triton")}
    except PackageNotFoundError:
        return {}


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return ""


def _line(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
