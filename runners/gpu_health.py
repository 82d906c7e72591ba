"""Is a GPU still right in the head? Asked after a submission's process was killed on it.

``check_gpu`` is what runners call; the work is done by ``python -m runners.gpu_health`` in a process of its
own, because a broken GPU can hold a process for ever. Needs the driver alone, neither torch nor Django.
"""

import ctypes
import logging
import os
import subprocess
import sys
from array import array
from pathlib import Path
from typing import NoReturn

from runners.harness import cuda_driver
from runners.sandbox import nvidia

logger = logging.getLogger(__name__)

_SECONDS = 60
_END_SECONDS = 5
_WORDS = 1 << 24
_PATTERNS = (0xA5A5A5A5, 0x00000000, 0x5A5A5A5A)
_BLOCKS, _THREADS = 4096, 256  # more blocks than a GPU has multiprocessors: each gets some
_FACTOR = 0x9E3779B1  # odd and large: indices that differ in any bit give different words
#: Adds to each word its index times the factor. In old PTX for old hardware, which every driver since CUDA 11
#: translates for its GPU.
_KERNEL = f"""\
.version 7.0
.target sm_70
.address_size 64
.visible .entry add_index(.param .u64 words)
{{
    .reg .b32 %block, %size, %thread, %index, %word;
    .reg .b64 %start, %offset, %place;
    mov.u32 %block, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mov.u32 %thread, %tid.x;
    mad.lo.u32 %index, %block, %size, %thread;
    ld.param.u64 %start, [words];
    cvta.to.global.u64 %start, %start;
    mul.wide.u32 %offset, %index, 4;
    add.u64 %place, %start, %offset;
    ld.global.u32 %word, [%place];
    mad.lo.u32 %word, %index, {_FACTOR:#x}, %word;
    st.global.u32 [%place], %word;
    ret;
}}
"""
_NO_TRANSLATOR = 221


def check_gpu(index: int) -> str:
    """Empty when the GPU that nvidia-smi numbers ``index`` works, else one sentence saying what is wrong.

    Memory is written by the copy engines and by a kernel, and read back by this process: a driver that merely
    answers proves nothing, and a GPU that copies may be unable to run anything.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "runners.gpu_health"],
        env={
            **nvidia.environment(index),
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": str(Path(__file__).resolve().parents[1]),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _, told = process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        _end(process)
        return f"GPU {index} did not answer within {_SECONDS} s."
    except BaseException:
        process.kill()
        raise
    if process.returncode == 0:
        return ""
    words = told.strip().rpartition("\n")[2]
    return f"GPU {index} fails its health check: {words[-300:] or f'exit status {process.returncode}'}."


def _end(process: "subprocess.Popen[str]") -> None:
    """Kills it, and lets it be where the driver holds it: no signal reaches it there, and a runner that
    waited would be held as well.
    """
    process.kill()
    try:
        process.communicate(timeout=_END_SECONDS)
    except subprocess.TimeoutExpired:
        logger.warning("the driver does not let process %d go, which asked how its GPU is", process.pid)
        if process.stderr is not None:
            process.stderr.close()


def _check() -> None:
    cuda_driver.use_device(0)
    kernel = _load()
    size = cuda_driver.rounded(4 * _WORDS, 0)
    memory = cuda_driver.create(size, 0)
    host = (ctypes.c_uint32 * _WORDS)()
    for pattern in _PATTERNS:
        address, count = ctypes.c_uint64(memory.address), ctypes.c_size_t(_WORDS)
        cuda_driver.call("cuMemsetD32_v2", address, ctypes.c_uint(pattern), count)
        cuda_driver.call("cuMemcpyDtoH_v2", host, address, ctypes.c_size_t(4 * _WORDS))
        if bytes(host) != pattern.to_bytes(4, "little") * _WORDS:
            _leave(f"memory written with {pattern:#x} reads differently")
        if kernel is None:
            continue
        _launch(kernel, address)
        cuda_driver.call("cuMemcpyDtoH_v2", host, address, ctypes.c_size_t(4 * _WORDS))
        if bytes(host) != _after_kernel(pattern):
            _leave(f"a kernel run on memory that holds {pattern:#x} leaves something else than it should")
    memory.free()


def _load() -> ctypes.c_void_p | None:
    """The kernel, or None where the driver came without its translator of PTX: no fault of the GPU."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    code = ctypes.c_char_p(_KERNEL.encode())
    try:
        cuda_driver.call("cuModuleLoadData", ctypes.byref(module), code)
    except cuda_driver.CudaError as error:
        if error.code == _NO_TRANSLATOR:
            return None
        raise
    cuda_driver.call("cuModuleGetFunction", ctypes.byref(function), module, ctypes.c_char_p(b"add_index"))
    return function


def _launch(kernel: ctypes.c_void_p, address: ctypes.c_uint64) -> None:
    """Runs the kernel on the first words at ``address`` and waits for it."""
    shape = [ctypes.c_uint(number) for number in (_BLOCKS, 1, 1, _THREADS, 1, 1, 0)]
    parameters = (ctypes.c_void_p * 1)(ctypes.addressof(address))
    try:
        cuda_driver.call("cuLaunchKernel", kernel, *shape, None, parameters, None)
        cuda_driver.synchronize()
    except cuda_driver.CudaError as error:
        _leave(f"it runs no kernel: {error}")


def _after_kernel(pattern: int) -> bytes:
    """All words after a launch on memory that held ``pattern``; those behind the last thread's still do."""
    count = _BLOCKS * _THREADS
    changed = array("I", [(pattern + _FACTOR * index) & 0xFFFFFFFF for index in range(count)])
    return changed.tobytes() + pattern.to_bytes(4, "little") * (_WORDS - count)


def _leave(fault: str = "") -> NoReturn:
    """Without the driver's own clean-up, which is no part of the question."""
    sys.stderr.write(fault)
    sys.stderr.flush()
    os._exit(1 if fault else 0)


if __name__ == "__main__":
    try:
        _check()
    except (cuda_driver.CudaError, OSError) as error:
        _leave(str(error) or repr(error))
    _leave()
