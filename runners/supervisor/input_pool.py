"""Fresh secret inputs at the price of a copy.

Drawing normal numbers costs more than most kernels take to read them, so that a budget would go into filling
inputs and few batches would be timed. A pool of secret numbers is drawn once instead; each call gets a window
of it at a random place, times a random factor, and a part of the pool is drawn anew after each window. The
pool is private to the supervisor. No two windows are alike, and a kernel that wanted to recognise parts of
earlier ones would have to read all of both.
"""

import os

import torch

from runners.contract.spec import Case, TensorSpec
from runners.supervisor import inputs

#: Smaller tensors are drawn anew each time: it costs little.
_LARGE = 2**18  # elements
_SLACK = 4  # the pool is longer than a tensor by one part in so many
_RENEWED = 16  # one part in so many is drawn anew after each window
#: Factors keep the distribution's shape; halves to wholes cannot overflow.
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
        large = self._length >= _LARGE and self._kind not in _ALWAYS_DRAWN
        self._pool: torch.Tensor | None = None
        if large:
            self._pool = torch.empty(self._length + self._length // _SLACK, dtype=self._dtype)
            self._draw(self._pool)

    def fill(self, place: torch.Tensor) -> None:
        """Writes the next values into ``place``, a tensor of this input's shape."""
        flat = place.view(-1)
        if self._pool is None:
            self._draw(flat)
            return
        start = int(self._random.integers(0, len(self._pool) - self._length, endpoint=True))
        window = self._pool[start : start + self._length]
        if self._dtype.is_floating_point:
            torch.mul(window, float(self._random.uniform(_LEAST_FACTOR, 1.0)), out=flat)
        else:
            flat.copy_(window)
        part = len(self._pool) // _RENEWED
        start = int(self._random.integers(0, len(self._pool) - part, endpoint=True))
        self._draw(self._pool[start : start + part])

    def _draw(self, place: torch.Tensor) -> None:
        inputs.fill(place.view(torch.uint8).numpy(), self._tensor, self._sizes, self._kind, self._random)
