"""Pages of the outputs that are copied while the clock still runs, and compared with what is there later."""

import secrets
from collections.abc import Sequence

import torch

from runners.supervisor.outcome import LateWrite


class DrawnPages:
    """``count`` pages of ``size`` bytes each. Where they lie is drawn anew for each batch."""

    def __init__(self, count: int, size: int, device: str) -> None:
        self._copy = torch.empty((count, size), dtype=torch.uint8, device=device)
        self._count = count
        self._device = device
        self._rows = torch.zeros(0, dtype=torch.int64, device=device)
        self._holds = False

    def draw(self, slots: Sequence[int], per_slot: int) -> None:
        """Draws pages of ``slots``, the slots that calls are about to write, of ``per_slot`` pages each."""
        random = secrets.SystemRandom()
        rows = [random.choice(slots) * per_slot + random.randrange(per_slot) for _ in range(self._count)]
        self._rows = torch.tensor(rows, device=self._device)
        self._holds = False

    def copy(self, outputs: torch.Tensor) -> None:
        """Copies the drawn rows of ``outputs`` (pages, size)."""
        torch.index_select(outputs, 0, self._rows, out=self._copy)
        self._holds = True

    def confirm(self, outputs: torch.Tensor) -> None:
        """Raises LateWrite when ``outputs`` now hold something else than was copied there, if at all."""
        if self._holds and not torch.equal(outputs.index_select(0, self._rows), self._copy):
            raise LateWrite

    def forget(self) -> None:
        """What was copied belongs to outputs that are about to be gone."""
        self._holds = False
