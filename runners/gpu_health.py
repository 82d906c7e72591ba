"""Is a GPU still right in the head? Asked after a submission's process was killed on it.

``check_gpu`` is what runners call; the work is done by ``python -m runners.gpu_health`` in a process of its
own, because a broken GPU can hold a process for ever. Needs the driver alone, neither torch nor Django.
"""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

from runners.sandbox import nvidia

_SECONDS = 60
_WORDS = 1 << 24
_PATTERNS = (0xA5A5A5A5, 0x00000000, 0x5A5A5A5A)


def check_gpu(index: int) -> str:
    """Empty when the GPU that nvidia-smi numbers ``index`` works, else one sentence saying what is wrong.

    Memory is written, and read back by this process: a driver that merely answers proves nothing.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-m", "runners.gpu_health"],
            env={
                **nvidia.environment(index),
                "PATH": "/usr/bin:/bin",
                "PYTHONPATH": str(Path(__file__).resolve().parents[1]),
            },
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"GPU {index} did not answer within {_SECONDS} s."
    if done.returncode == 0:
        return ""
    words = done.stderr.strip().rpartition("\n")[2]
    return f"GPU {index} fails its health check: {words[-300:] or f'exit status {done.returncode}'}."


def _check() -> None:
    from runners.harness import cuda_driver

    cuda_driver.use_device(0)
    size = cuda_driver.rounded(4 * _WORDS, 0)
    memory = cuda_driver.create(size, 0)
    host = (ctypes.c_uint32 * _WORDS)()
    for pattern in _PATTERNS:
        address, count = ctypes.c_uint64(memory.address), ctypes.c_size_t(_WORDS)
        cuda_driver.call("cuMemsetD32_v2", address, ctypes.c_uint(pattern), count)
        cuda_driver.call("cuMemcpyDtoH_v2", host, address, ctypes.c_size_t(4 * _WORDS))
        if bytes(host) != pattern.to_bytes(4, "little") * _WORDS:
            sys.exit(f"memory written with {pattern:#x} reads differently")
    memory.free()


if __name__ == "__main__":
    _check()
    sys.stdout.flush()
    os._exit(0)  # the driver's own clean-up is no part of the question
