"""How one tensor of a case lies in memory of the supervisor's, on any device."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from runners.contract.layout import span, strides
from runners.contract.spec import ITEM_SIZE, TensorSpec


@dataclass(frozen=True)
class Placed:
    """``steps`` are elements from one index to the next; what lies between elements is filled like them."""

    tensor: TensorSpec
    dims: tuple[int, ...]
    steps: tuple[int, ...]
    nbytes: int

    @classmethod
    def of(cls, tensor: TensorSpec, sizes: Mapping[str, int], layout: str) -> "Placed":
        """``layout`` is one of contract/layout.py, "" for dense."""
        dims = tensor.dims(sizes)
        steps = strides(dims, layout)
        nbytes = span(dims, steps) * ITEM_SIZE[tensor.dtype] if layout else tensor.nbytes(sizes)
        return cls(tensor, dims, steps, nbytes)

    def show(self, memory: torch.Tensor) -> torch.Tensor:
        """``memory``, ``nbytes`` bytes, as the tensor; shared, not copied."""
        elements = memory.view(getattr(torch, self.tensor.dtype))
        return elements.as_strided(self.dims, self.steps, elements.storage_offset())

    def describe(self, offset: int) -> dict[str, Any]:
        """What the child needs to show it, too; ``offset`` is where it starts in a slot, bytes."""
        return {
            "name": self.tensor.name,
            "dtype": self.tensor.dtype,
            "dims": list(self.dims),
            "strides": list(self.steps),
            "bytes": self.nbytes,
            "offset": offset,
        }
