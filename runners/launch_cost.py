"""What launching a kernel costs at the least: a loop in C over empty ones. Needs libcuda and a C compiler.

No call of a submission takes less, as each must start its own work. A batch whose calls take less was done in
fewer launches than it has calls.
"""

import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable
from typing import cast

from runners.harness import cuda_driver

_LAUNCHES = 5000
_REPEATS = 20
_NOTHING = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n\0"
_LOOP = """
typedef unsigned size;
typedef int launch_t(void*, size, size, size, size, size, size, size, void*, void*, void*);
int launches(launch_t* launch, void* function, int count) {
    for (int i = 0; i < count; ++i) {
        const int code = launch(function, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0);
        if (code) return code;
    }
    return 0;
}
"""


def least_launch_seconds() -> float:
    """The best of several repeats, on the device whose context is current.

    Raises CudaError, and OSError or CalledProcessError where there is no compiler.
    """
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    cuda_driver.call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(_NOTHING))
    cuda_driver.call("cuModuleGetFunction", ctypes.byref(function), module, ctypes.c_char_p(b"nothing"))
    launch = ctypes.cast(cuda_driver.address("cuLaunchKernel"), ctypes.c_void_p)
    loop = _loop()
    times: list[float] = []
    for _ in range(_REPEATS):
        cuda_driver.synchronize()
        start = time.perf_counter()
        code = loop(launch, function, _LAUNCHES)
        cuda_driver.synchronize()
        times.append((time.perf_counter() - start) / _LAUNCHES)
        if code:
            raise cuda_driver.CudaError("cuLaunchKernel", code)
    return min(times)


def _loop() -> Callable[[ctypes.c_void_p, ctypes.c_void_p, int], int]:
    """The loop as a function of ctypes: launch, function, count; it returns the driver's error code."""
    with tempfile.TemporaryDirectory(prefix="kernelhub-launch-") as folder:
        library = f"{folder}/loop.so"
        command = ["gcc", "-O2", "-shared", "-fPIC", "-x", "c", "-", "-o", library]
        subprocess.run(command, input=_LOOP.encode(), check=True, capture_output=True)
        loaded = ctypes.CDLL(library)
    loaded.launches.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    return cast(Callable[[ctypes.c_void_p, ctypes.c_void_p, int], int], loaded.launches)
