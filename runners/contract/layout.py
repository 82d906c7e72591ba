"""How an input may lie in memory. Shapes never change: ``x[i, j]`` is the same number in every layout.

transposed: the axes in the opposite order, as ``x.t()`` gives · padded: three elements between the end of a
row and the next, as a slice of a wider tensor gives · stepped: every other element, as ``x[::2]`` gives. ""
is dense.
"""

from collections.abc import Sequence

LAYOUTS = ("transposed", "padded", "stepped")
_PADDING = 3
_STEP = 2


def strides(dims: Sequence[int], layout: str) -> tuple[int, ...]:
    """Elements from one index to the next, one number per axis."""
    order = range(len(dims)) if layout == "transposed" else range(len(dims) - 1, -1, -1)
    found = [0] * len(dims)
    step = _STEP if layout == "stepped" else 1
    for place, axis in enumerate(order):
        found[axis] = step
        step *= dims[axis]
        if layout == "padded" and place == 0:
            step += _PADDING
    return tuple(found)


def span(dims: Sequence[int], steps: Sequence[int]) -> int:
    """Elements from the first to the last, both counted."""
    return 1 + sum((size - 1) * step for size, step in zip(dims, steps, strict=True))
