"""Device memory shared with the child: one allocation for all inputs of a case, one for all outputs.

Divided into slots like the CPU's arenas (arena.py). Needs torch with CUDA and the device's primary context.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from runners.contract.spec import TensorSpec
from runners.harness import cuda_driver
from runners.supervisor.placed import Placed

#: Tensors start on borders of this many bytes, and pages of this size are drawn for checking.
PAGE = 4096
POISON = 0xA5
#: What is done to all slots is done in parts of about this many bytes.
PART_BYTES = 2**28
ORDINAL = 0  # the supervisor is shown one device


class Layout:
    """Where each tensor of each slot lies, in device memory of any owner."""

    def __init__(
        self,
        tensors: Sequence[TensorSpec],
        sizes: Mapping[str, int],
        layouts: Mapping[str, str] | None = None,
    ) -> None:
        """``layouts`` as in Arena."""
        self.tensors = tuple(tensors)
        self._placed = [Placed.of(tensor, sizes, (layouts or {}).get(tensor.name, "")) for tensor in tensors]
        self._bytes = [placed.nbytes for placed in self._placed]
        self._offsets: list[int] = []
        self.stride = 0
        for size in self._bytes:
            self._offsets.append(self.stride)
            self.stride += -(-size // PAGE) * PAGE

    def raw(self, memory: torch.Tensor, slot: int, index: int) -> torch.Tensor:
        """The bytes of one tensor in ``memory`` (uint8, at least slots times stride)."""
        start = slot * self.stride + self._offsets[index]
        return memory[start : start + self._bytes[index]]

    def tensor(self, memory: torch.Tensor, slot: int, index: int) -> torch.Tensor:
        """One tensor, sharing ``memory``."""
        return self._placed[index].show(self.raw(memory, slot, index))

    def elements(self, memory: torch.Tensor, slot: int, index: int) -> torch.Tensor:
        """All elements of one tensor in the order of memory, those between its own included."""
        return self.raw(memory, slot, index).view(getattr(torch, self.tensors[index].dtype))

    def slot_tensors(self, memory: torch.Tensor, slot: int) -> list[torch.Tensor]:
        return [self.tensor(memory, slot, index) for index in range(len(self.tensors))]

    def column(self, memory: torch.Tensor, slots: int, index: int) -> torch.Tensor:
        """One tensor of the first ``slots`` slots as rows of elements, sharing ``memory``."""
        rows = memory[: slots * self.stride].view(slots, self.stride)
        start = self._offsets[index]
        dtype = getattr(torch, self.tensors[index].dtype)
        return rows[:, start : start + self._bytes[index]].view(dtype)

    def poison(self, memory: torch.Tensor, slots: int) -> None:
        """NaN in floating tensors, 0xA5 bytes in whole-number ones and between tensors, in the first
        ``slots`` slots.
        """
        rows = memory[: slots * self.stride].view(slots, self.stride)
        borders = [*self._offsets[1:], self.stride]
        for tensor, start, size, border in zip(
            self.tensors, self._offsets, self._bytes, borders, strict=True
        ):
            end = start + size
            rows[:, start:end].fill_(0xFF if "float" in tensor.dtype else POISON)
            rows[:, end:border].fill_(POISON)

    def padding(self, memory: torch.Tensor, slot: int, index: int) -> torch.Tensor:
        """The bytes between the end of one tensor and the next page."""
        end = self._offsets[index] + self._bytes[index]
        border = self._offsets[index + 1] if index + 1 < len(self._offsets) else self.stride
        return memory[slot * self.stride + end : slot * self.stride + border]

    def describe(self) -> list[dict[str, Any]]:
        """What the child needs to find its way."""
        return [placed.describe(offset) for placed, offset in zip(self._placed, self._offsets, strict=True)]


class CudaArena:
    """``slots`` copies of a layout in memory that the supervisor owns and the child maps, too."""

    def __init__(self, layout: Layout, slots: int) -> None:
        self.layout = layout
        self.slots = slots
        self._memory = cuda_driver.create(cuda_driver.rounded(slots * layout.stride, ORDINAL), ORDINAL)
        self.bytes = as_tensor(self._memory)

    @property
    def pages(self) -> torch.Tensor:
        """The slots as rows of one page each."""
        return self.bytes[: self.slots * self.layout.stride].view(-1, PAGE)

    def untouched(self, slots: Sequence[int], poison: torch.Tensor) -> bool:
        """Whether each of ``slots`` still holds the bytes of ``poison``, one slot's."""
        wanted = poison.view(torch.int64)
        rows = self.bytes[: self.slots * self.layout.stride].view(torch.int64).view(self.slots, -1)
        step = max(1, PART_BYTES // self.layout.stride)
        if step == 1:  # large ones one by one, those in use left out
            return bool(torch.stack([(rows[slot] == wanted).all() for slot in slots]).all())
        same = torch.empty(self.slots, dtype=torch.bool, device=self.bytes.device)
        for start in range(0, max(slots) + 1, step):  # in parts, as the comparison itself takes room
            part = slice(start, start + step)
            torch.all(rows[part] == wanted, dim=1, out=same[part])
        return bool(same[torch.tensor(slots, dtype=torch.int64, device=same.device)].all())

    def export(self) -> int:
        return self._memory.export()

    def describe(self) -> dict[str, Any]:
        return {"slots": self.slots, "stride": self.layout.stride, "size": self._memory.size}

    def close(self) -> None:
        """No tensor of this arena may be used afterwards."""
        torch.cuda.synchronize()
        del self.bytes
        self._memory.free()


def as_tensor(memory: cuda_driver.DeviceMemory) -> torch.Tensor:
    """All of ``memory`` as bytes, shared and not copied."""
    shown = cuda_driver.ArrayInterface(memory.address, memory.size)
    tensor = torch.as_tensor(shown, device=f"cuda:{ORDINAL}")
    if tensor.data_ptr() != memory.address:
        raise RuntimeError("torch copied the shared memory instead of sharing it")
    return tensor


def close_descriptors(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
