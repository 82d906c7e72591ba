"""Calling a shared library whose C entry point launches CUDA kernels."""

import ctypes
import functools
from collections.abc import Callable
from typing import Any

from runners.harness.c_kernel import CKernel
from runners.harness.cuda_driver import Stream
from runners.harness.memory import Mapped


class LaunchError(Exception):
    """The CUDA runtime refused a launch; the message is the runtime's."""


class CudaKernel:
    """``kernel(inputs…, outputs…, sizes…, stream)``."""

    def __init__(self, library: int) -> None:
        self._kernel = CKernel(library)
        self._stream = Stream()
        self._calls = self._kernel.function("kernelhub_calls")
        self._calls.restype = None
        self._last_error = self._kernel.function("kernelhub_last_error")
        self._last_error.restype = ctypes.c_char_p

    def bind_all(
        self, case: dict[str, Any], inputs: Mapped, outputs: Mapped, slots: list[int]
    ) -> Callable[[], Any]:
        """One call on each of ``slots`` in turn. The loop over them is C: Python's would take longer per call
        than small kernels do.
        """
        places = [
            arena.address + slot * arena.stride + tensor["offset"]
            for slot in slots
            for arena, tensors in ((inputs, case["inputs"]), (outputs, case["outputs"]))
            for tensor in tensors
        ]
        pointers = (ctypes.c_void_p * len(places))(*places)
        sizes = (ctypes.c_int64 * len(case["sizes"]))(*case["sizes"])
        return functools.partial(
            self._calls, pointers, sizes, ctypes.c_int64(len(slots)), self._stream.handle
        )

    def check(self) -> None:
        """Raises LaunchError for a launch since the last check that never started.

        A wrong grid, or more shared memory than there is, is told to the runtime inside the library only.
        """
        words = self._last_error()
        if words:
            raise LaunchError(f"CUDA error: {words.decode(errors='replace')}")
