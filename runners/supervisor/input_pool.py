"""Fresh secret inputs at the price of a copy.

Drawing normal numbers costs more than most kernels take to read them, so that a budget would go into filling
inputs and few batches would be timed. Two pools of secret numbers are drawn once instead; each call gets a
window of the one at a random place, times a window of the other at another, element by element, and a part
of both pools is drawn anew after each call. The pools are private to the supervisor.

One pool and one factor per call would not do: a kernel could find by a few values where the window lies, and
so have the sum of most of it from what it remembered of earlier calls. What two windows come to together is
known of no part of it before it is read.
"""

import os

import numpy as np
import torch

from runners.contract.expressions import evaluate
from runners.contract.spec import Case, TensorSpec
from runners.supervisor import inputs

#: Smaller tensors are drawn anew each time: it costs little.
_LARGE = 2**18  # elements
_SLACK = 4  # the pool is longer than a tensor by one part in so many
_RENEWED = 16  # one part in so many is drawn anew after each window
#: Factors hardly change the distribution's shape (a normal one's kurtosis is 3.4), and cannot overflow.
_LEAST_FACTOR = 0.5
#: Fills that have no windows: one value, or values whose meaning is their size.
_ALWAYS_DRAWN = {"constant", "zeros", "denormal"}


class InputPool:
    """Windows for one input tensor of one case."""

    def __init__(self, tensor: TensorSpec, case: Case) -> None:
        self._tensor = tensor
        self._sizes = case.sizes
        self._kind = case.fills.get(tensor.name, tensor.fill)
        self._random = inputs.generator(os.urandom(16), tensor.name)
        self._dtype = getattr(torch, tensor.dtype)
        self._length = tensor.nbytes(case.sizes) // self._dtype.itemsize
        large = self._length >= _LARGE and self._kind not in _ALWAYS_DRAWN and self._mixes()
        self._pools: list[torch.Tensor] = []
        if large:
            size = self._length + self._length // _SLACK
            self._pools = [torch.empty(size, dtype=self._dtype) for _ in range(2)]
            self._draw(self._pools[0])
            self._draw_other(self._pools[1])

    def fill(self, place: torch.Tensor) -> None:
        """Writes the next values into ``place``, a tensor of this input's shape."""
        flat = place.view(-1)
        if not self._pools:
            self._draw(flat)
            return
        windows = [self._part(pool, self._length) for pool in self._pools]
        mix = torch.mul if self._dtype.is_floating_point else torch.bitwise_xor
        mix(*windows, out=flat)
        numbers, others = (self._part(pool, len(pool) // _RENEWED) for pool in self._pools)
        self._draw(numbers)
        self._draw_other(others)

    def _part(self, pool: torch.Tensor, length: int) -> torch.Tensor:
        """``length`` numbers of ``pool`` at a random place, shared."""
        start = int(self._random.integers(0, len(pool) - length, endpoint=True))
        return pool[start : start + length]

    def _mixes(self) -> bool:
        """Whether two windows make numbers of the same range: whole ones do by their bits."""
        if self._dtype.is_floating_point:
            return True
        low, high = evaluate(self._tensor.low, self._sizes), evaluate(self._tensor.high, self._sizes)
        return low == 0 and high & (high - 1) == 0

    def _draw(self, place: torch.Tensor) -> None:
        inputs.fill(place.view(torch.uint8).numpy(), self._tensor, self._sizes, self._kind, self._random)

    def _draw_other(self, place: torch.Tensor) -> None:
        """What ``_draw`` drew is mixed with this: factors, or other numbers."""
        if not self._dtype.is_floating_point:
            self._draw(place)
            return
        shares = torch.from_numpy(self._random.random(len(place), dtype=np.float32))
        place.copy_(shares.mul_(1 - _LEAST_FACTOR).add_(_LEAST_FACTOR))
