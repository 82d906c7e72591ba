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
        self._last_error = self._kernel.function("kernelhub_last_error")
        self._last_error.restype = ctypes.c_char_p

    def bind(self, case: dict[str, Any], inputs: Mapped, outputs: Mapped, slot: int) -> Callable[[], Any]:
        """One call on one slot, all arguments converted beforehand."""
        launch = self._kernel.bind(case, inputs, outputs, slot)
        return functools.partial(launch, self._stream.handle)

    def check(self) -> None:
        """Raises LaunchError for a launch since the last check that never started.

        A wrong grid, or more shared memory than there is, is told to the runtime inside the library only.
        """
        words = self._last_error()
        if words:
            raise LaunchError(f"CUDA error: {words.decode(errors='replace')}")
