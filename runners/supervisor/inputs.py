"""Filling inputs with fresh values. What each fill means is part of the task contract.

normal: N(0,1)·scale · uniform: U[0,1)·scale · large: N(0,1)·1000·scale · constant: one value drawn from
N(0,1)·scale · heavy: standard Cauchy clipped to ±10000, times scale · zeros: +0 and −0 mixed ·
denormal: N(0,1)·1e-40 · integers: whole numbers in [low, high). On whole-number inputs ``constant`` is one
drawn value everywhere and ``zeros`` is ``low``.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners.contract.expressions import evaluate
from runners.contract.spec import TensorSpec

_CLIP = 1e4
_NUMPY = {"float64": np.float64, "float32": np.float32, "float16": np.float16}
Array = npt.NDArray[Any]


def generator(*words: str | bytes) -> np.random.Generator:
    """A generator that depends on ``words`` alone: public cases repeat exactly, secret ones get a secret
    word.
    """
    digest = hashlib.sha256(b"\0".join(word if isinstance(word, bytes) else word.encode() for word in words))
    return np.random.Generator(np.random.SFC64(int.from_bytes(digest.digest()[:16], "little")))


def fill(
    place: npt.NDArray[np.uint8],
    tensor: TensorSpec,
    sizes: Mapping[str, int],
    kind: str,
    random: np.random.Generator,
) -> None:
    """Writes one input into its bytes, in place."""
    if "int" in tensor.dtype:
        low, high = evaluate(tensor.low, sizes), evaluate(tensor.high, sizes)
        _integers(place.view(np.dtype(tensor.dtype)), kind, low, high, random)
    elif tensor.dtype in ("float32", "float64"):
        _floats(place.view(np.dtype(tensor.dtype)), kind, tensor.scale, random)
    else:
        values = np.empty(place.size // 2, dtype=np.float32)
        _floats(values, kind, tensor.scale, random)
        if tensor.dtype == "float16":
            with np.errstate(over="ignore"):
                place.view(np.float16)[:] = np.clip(values, -65504, 65504)
        else:
            place.view(np.uint16)[:] = _bfloat16_bits(values)


def _integers(place: Array, kind: str, low: int, high: int, random: np.random.Generator) -> None:
    if kind == "zeros":
        place[:] = low
    elif kind == "constant":
        place[:] = random.integers(low, high)
    else:
        place[:] = random.integers(low, high, size=place.size, dtype=place.dtype)


def _floats(place: Array, kind: str, scale: float, random: np.random.Generator) -> None:
    match kind:
        case "uniform":
            random.random(out=place, dtype=place.dtype)
        case "constant":
            place[:] = random.standard_normal()
        case "heavy":
            place[:] = np.clip(random.standard_cauchy(place.size), -_CLIP, _CLIP)
        case "zeros":
            place[:] = 0.0
            place[random.random(place.size) < 0.5] = -0.0
            return
        case _:
            random.standard_normal(out=place, dtype=place.dtype)
    if kind == "denormal":
        place *= place.dtype.type(1e-40)
        return
    factor = scale * (1000 if kind == "large" else 1)
    if factor != 1:
        place *= place.dtype.type(factor)


def _bfloat16_bits(values: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    """Rounded to nearest even; the inputs are finite."""
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
