"""Memory shared with the child: one memory file for all inputs of a case, one for all outputs.

An arena is divided into slots, one per call in a batch; a slot holds every tensor, each on pages of its own.
"""

import fcntl
import mmap
import os
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from runners.contract.spec import TensorSpec
from runners.supervisor.placed import Placed

PAGE = mmap.PAGESIZE
_F_SEAL_FUTURE_WRITE = 0x10
Bytes = npt.NDArray[np.uint8]


class Arena:
    """``slots`` copies of ``tensors`` in shared memory, owned by the supervisor."""

    def __init__(
        self,
        tensors: Sequence[TensorSpec],
        sizes: Mapping[str, int],
        slots: int,
        *,
        child_writes: bool,
        layouts: Mapping[str, str] | None = None,
    ) -> None:
        """``layouts`` maps names of tensors that are not dense to how they lie (contract/layout.py)."""
        self.tensors = tuple(tensors)
        self.slots = slots
        self._placed = [Placed.of(tensor, sizes, (layouts or {}).get(tensor.name, "")) for tensor in tensors]
        self._bytes = [placed.nbytes for placed in self._placed]
        self._poison = [0xFF if "float" in tensor.dtype else 0xA5 for tensor in tensors]
        self._offsets: list[int] = []
        self.stride = 0
        for size in self._bytes:
            self._offsets.append(self.stride)
            self.stride += -(-size // PAGE) * PAGE
        self.fd = os.memfd_create(f"kernelhub-{secrets.token_hex(4)}", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
        os.ftruncate(self.fd, slots * self.stride)
        self._map = mmap.mmap(self.fd, slots * self.stride)
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        # FUTURE_WRITE leaves the mapping made above writable and refuses every later one: the child reads
        # only.
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, seals | (0 if child_writes else _F_SEAL_FUTURE_WRITE))
        self.bytes: Bytes = np.frombuffer(self._map, dtype=np.uint8)

    @property
    def pages(self) -> npt.NDArray[np.uint8]:
        """The whole arena as rows of one page each."""
        return self.bytes.reshape(-1, PAGE)

    def raw(self, slot: int, index: int) -> Bytes:
        """The bytes of one tensor."""
        start = slot * self.stride + self._offsets[index]
        return self.bytes[start : start + self._bytes[index]]

    def tensor(self, slot: int, index: int) -> torch.Tensor:
        """One tensor, sharing the arena's memory."""
        return self.shown(self.raw(slot, index), index)

    def shown(self, raw: Bytes, index: int) -> torch.Tensor:
        """``raw``, the bytes of a tensor or a copy of them, as the tensor that they are."""
        return self._placed[index].show(torch.from_numpy(raw))

    def describe(self) -> dict[str, Any]:
        """What the child needs to find its way."""
        return {"slots": self.slots, "stride": self.stride}

    def describe_tensors(self) -> list[dict[str, Any]]:
        return [placed.describe(offset) for placed, offset in zip(self._placed, self._offsets, strict=True)]

    def poison(self, slot: int) -> None:
        """Overwrites a slot: NaN in floating outputs, 0xA5 bytes in whole-number ones and between tensors."""
        start = slot * self.stride
        ends = [*self._offsets[1:], self.stride]
        for index, (offset, size, end) in enumerate(zip(self._offsets, self._bytes, ends, strict=True)):
            self.raw(slot, index)[:] = self._poison[index]
            self.bytes[start + offset + size : start + end] = 0xA5

    def is_poison(self, slot: int) -> bool:
        """Whether nothing has been written into a slot since it was poisoned."""
        return all(_all_are(self.raw(slot, index), value) for index, value in enumerate(self._poison))

    def close(self) -> None:
        """Drops this side's mapping; the memory goes when the child has unmapped it as well."""
        os.close(self.fd)
        del self.bytes
        # Views that the oracle still holds keep the mapping alive; the garbage collector ends it then.


def _all_are(place: Bytes, value: int) -> bool:
    """Whether every byte is ``value``; eight at a time, as this is asked between timed batches."""
    whole = place[: place.size // 8 * 8].view(np.uint64)
    rest = place[whole.nbytes :]
    return bool((whole == np.uint64(value * 0x0101010101010101)).all() and (rest == value).all())
