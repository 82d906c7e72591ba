"""Filling inputs on the device. Fills mean what inputs.py says; the values differ, as the generators do."""

import hashlib
from collections.abc import Mapping

import torch

from runners.contract.expressions import evaluate
from runners.contract.spec import TensorSpec

_CLIP = 1e4
_HALF_MAX = 65504.0


def generator(device: torch.device | str, *words: str | bytes) -> torch.Generator:
    """A generator that depends on ``words`` alone: public cases repeat, secret ones get a secret word."""
    digest = hashlib.sha256(b"\0".join(word if isinstance(word, bytes) else word.encode() for word in words))
    made = torch.Generator(device=device)
    made.manual_seed(int.from_bytes(digest.digest()[:8], "little"))
    return made


def fill(
    place: torch.Tensor,
    tensor: TensorSpec,
    sizes: Mapping[str, int],
    kind: str,
    random: torch.Generator,
) -> None:
    """Writes one input in place; ``place`` has the tensor's dtype and any shape."""
    if not place.is_floating_point():
        low, high = evaluate(tensor.low, sizes), evaluate(tensor.high, sizes)
        _integers(place, kind, low, high, random)
    elif place.dtype in (torch.float32, torch.float64):
        _floats(place, kind, tensor.scale, random)
    else:
        # Drawn in single precision and rounded once, so that the distribution is the same for every dtype.
        wide = torch.empty(place.shape, dtype=torch.float32, device=place.device)
        _floats(wide, kind, tensor.scale, random)
        place.copy_(wide.clamp_(-_HALF_MAX, _HALF_MAX) if place.dtype == torch.float16 else wide)


def _integers(place: torch.Tensor, kind: str, low: int, high: int, random: torch.Generator) -> None:
    if kind == "zeros":
        place.fill_(low)
    elif kind == "constant":
        one = torch.empty(1, dtype=place.dtype, device=place.device).random_(low, high, generator=random)
        place.copy_(one.expand_as(place))
    else:
        place.random_(low, high, generator=random)


def _floats(place: torch.Tensor, kind: str, scale: float, random: torch.Generator) -> None:
    match kind:
        case "uniform":
            place.uniform_(0.0, 1.0, generator=random)
        case "constant":
            one = torch.empty(1, dtype=place.dtype, device=place.device).normal_(generator=random)
            place.copy_(one.expand_as(place))
        case "heavy":
            place.cauchy_(generator=random).clamp_(-_CLIP, _CLIP)
        case "zeros":
            place.uniform_(-1.0, 1.0, generator=random).mul_(0.0)
            return
        case _:
            place.normal_(generator=random)
    if kind == "denormal":
        place.mul_(1e-40)
        return
    factor = scale * (1000 if kind == "large" else 1)
    if factor != 1:
        place.mul_(factor)
