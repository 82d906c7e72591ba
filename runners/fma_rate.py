"""The rate of a CPU's units for multiplying and adding, which no library's product of matrices reaches.

A kernel written for one shape and one processor may beat the library, and a floor set by that would hold the
kernel for a person.
"""

import ctypes
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from runners.backends.cpp import toolchain

_SOURCE = Path(__file__).with_suffix(".cpp")
_FLAGS = ("-O3", "-march=native", "-std=c++20", "-shared", "-fPIC")
_COMPILE_SECONDS = 60
_TRIALS = 20  # of about ten milliseconds each
_DTYPES = ("float32", "float64")


def fma_rates() -> dict[str, float]:
    """Operations per second by dtype, all cores of this process together; a fused multiply-add counts as two.
    Empty where there is no compiler to find out with.
    """
    compiler = toolchain.find()
    if compiler is None:
        return {}
    with tempfile.TemporaryDirectory(prefix="kernelhub-rate-") as folder:
        library = str(Path(folder) / "fma_rate.so")
        command = [compiler, *_FLAGS, "-o", library, str(_SOURCE)]
        subprocess.run(command, check=True, capture_output=True, timeout=_COMPILE_SECONDS)
        loaded = ctypes.CDLL(library)
    cores = len(os.sched_getaffinity(0))
    rates = {}
    with ThreadPoolExecutor(cores) as threads:
        for dtype in _DTYPES:
            function = loaded[dtype]
            function.restype = ctypes.c_double
            rates[dtype] = sum(threads.map(function, [_TRIALS] * cores))
    return rates
