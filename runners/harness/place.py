"""Where a submission runs: how memory is mapped, how it is loaded, what surrounds a batch of calls."""

from collections.abc import Callable
from typing import Any, Protocol

from runners.harness.memory import Mapped, map_arena


class Place(Protocol):
    """One kind of device, as the harness sees it."""

    def map(self, descriptor: int, arena: dict[str, Any], *, writable: bool) -> Mapped:
        """Maps an arena that the supervisor described, and closes its descriptor."""

    def load(self, kind: str, descriptor: int) -> Any:
        """A kernel with a method ``bind``: ``python`` or ``library``, read from the descriptor."""

    def batch(self, kernel: Any, calls: list[Callable[[], Any]]) -> dict[str, Any]:
        """Makes the calls and waits until they are done. What it returns is evidence, never a verdict."""


class Nothing:
    """No work at all: what a batch costs by itself."""

    def bind(self, case: dict[str, Any], inputs: Mapped, outputs: Mapped, slot: int) -> Callable[[], None]:
        return lambda: None


class CpuPlace:
    """Implements Place."""

    def map(self, descriptor: int, arena: dict[str, Any], *, writable: bool) -> Mapped:
        return map_arena(descriptor, arena, writable=writable)

    def load(self, kind: str, descriptor: int) -> Any:
        if kind == "library":
            from runners.harness.c_kernel import CKernel

            return CKernel(descriptor)
        from runners.harness.python_kernel import PythonKernel

        return PythonKernel(descriptor)

    def batch(self, kernel: Any, calls: list[Callable[[], Any]]) -> dict[str, Any]:
        for call in calls:
            call()
        return {}
