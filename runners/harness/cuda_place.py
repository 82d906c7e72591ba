"""Where a submission runs on a CUDA device: shared device memory, and what surrounds a batch of calls."""

import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from runners.harness import cuda_driver
from runners.harness.memory import Mapped

_DEVICE = 0  # the sandbox shows one device


@dataclass(frozen=True)
class MappedDevice(Mapped):
    """One arena in device memory: ``stride`` bytes per slot from ``address`` on."""

    memory: cuda_driver.DeviceMemory
    _shown: dict[tuple[int, int], Any] = field(default_factory=dict)

    def unmap(self) -> None:
        self.memory.free()

    def bytes_at(self, offset: int, size: int) -> Any:
        """As in Mapped. Kept, as thousands of slots are shown anew for every batch."""
        import torch

        key = (offset, size)
        if key not in self._shown:
            memory = cuda_driver.ArrayInterface(self.address + offset, size)
            self._shown[key] = torch.as_tensor(memory, device="cuda")
        return self._shown[key]


class CudaPlace:
    """Implements Place. The context is opened at once, before any submission."""

    def __init__(self) -> None:
        cuda_driver.use_device(_DEVICE)
        self._begin, self._end = cuda_driver.Event(), cuda_driver.Event()
        cuda_driver.synchronize()

    def map(self, descriptor: int, arena: dict[str, Any], *, writable: bool) -> Mapped:
        """Device memory knows no read-only mapping: the supervisor compares the inputs afterwards instead."""
        memory = cuda_driver.import_descriptor(descriptor, arena["size"], _DEVICE)
        return MappedDevice(memory.address, memory.size, arena["stride"], memory)

    def load(self, kind: str, descriptor: int) -> Any:
        if kind == "library":
            from runners.harness.cuda_kernel import CudaKernel

            return CudaKernel(descriptor)
        from runners.harness.python_kernel import PythonKernel

        return PythonKernel(descriptor)

    def batch(self, kernel: Any, calls: list[Callable[[], Any]]) -> dict[str, Any]:
        """Makes the calls and waits for the device. The seconds by CUDA's events are evidence, no verdict."""
        gc.disable()  # thousands of bound calls make a collection slow, and it would fall into some batches
        try:
            # The legacy default stream: it waits for every blocking stream, and they wait for it.
            self._begin.record(None)
            for call in calls:
                call()
            self._end.record(None)
            cuda_driver.synchronize()
        finally:
            gc.enable()
        check = getattr(kernel, "check", None)
        if check is not None:
            check()
        return {"event_seconds": self._end.seconds_since(self._begin)}
