"""Finding NVIDIA's compiler and disassembler on this machine."""

import os
import re
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass
from functools import cache

#: Where CUDA is commonly installed, besides the PATH and NVIDIA's own Python packages.
_FOLDERS = ("/usr/local/cuda/bin", "/opt/cuda/bin", "/usr/lib/cuda/bin")
_RELEASE = re.compile(r"release (\d+\.\d+), V([\d.]+)")


class NoCompilerError(RuntimeError):
    """This machine cannot compile CUDA; the message says what to install."""


@dataclass(frozen=True)
class Toolchain:
    """Absolute paths, links resolved."""

    nvcc: str
    root: str  # the folder above nvcc's bin: headers, libraries, ptxas
    release: str  # "13.0.88"
    nvdisasm: str | None  # without it there is no SASS listing

    @property
    def folders(self) -> tuple[str, ...]:
        """What a sandbox must be able to read to compile."""
        extra = {os.path.dirname(self.nvdisasm)} if self.nvdisasm else set()
        return (self.root, *sorted(folder for folder in extra if not _below(folder, self.root)))


@cache
def find() -> Toolchain:
    """The toolchain of this machine. Raises NoCompilerError."""
    nvcc = _tool("nvcc")
    if nvcc is None:
        raise NoCompilerError(
            "This machine has no CUDA compiler: install the CUDA toolkit, so that nvcc is on the PATH."
        )
    try:
        answer = subprocess.run(
            [nvcc, "--version"], capture_output=True, text=True, errors="replace", timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoCompilerError(f"The CUDA compiler {nvcc} does not start: {error}.") from error
    release = _RELEASE.search(answer.stdout)
    if release is None:
        raise NoCompilerError(f"The CUDA compiler {nvcc} does not say its version.")
    return Toolchain(nvcc, os.path.dirname(os.path.dirname(nvcc)), release[2], _tool("nvdisasm"))


def _tool(name: str) -> str | None:
    """The real program, also where the PATH holds a shell script that calls it."""
    packages = os.path.join(sysconfig.get_path("purelib"), "nvidia")
    folders = [os.path.join(packages, item, "bin") for item in ("cu13", "cuda_nvcc", "cuda_nvdisasm")]
    folders.append(os.path.join(sysconfig.get_path("purelib"), "triton", "backends", "nvidia", "bin"))
    search = os.pathsep.join([*_FOLDERS, os.environ.get("PATH", ""), *folders])
    found = shutil.which(name, path=search)
    return os.path.realpath(found) if found else None


def _below(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == folder
