"""Linear layers in 8 bits for the CPU.

torch's own dynamic quantisation scales a whole activation tensor at once, and a few tokens of a language
model have activations hundreds of times larger than the rest, which then round to nothing. Here each row is
first brought to the range [-1, 1] and the result scaled back, so a large token costs only itself precision.
"""

import copy
import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

_TINY = 1e-12


class Int8Linear(nn.Module):
    """A linear layer without gradient: weights int8 per output channel, inputs quantised row by row."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        weight = linear.weight.detach()
        scales = weight.abs().amax(dim=1).clamp_min(_TINY) / 127
        zeros = torch.zeros(weight.shape[0], dtype=torch.long)
        bias = linear.bias.detach() if linear.bias is not None else None
        with warnings.catch_warnings():
            # Quantised tensors are announced to go some day; the torch version is pinned.
            warnings.simplefilter("ignore")
            packed = torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)
            self._weight: Any = torch.ops.quantized.linear_prepack(packed, None)
        self._bias: torch.Tensor | None = bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``x`` of shape (…, in) and float32 to (…, out)."""
        # The largest absolute value of each row; torch's norm of that name takes ten times as long.
        size = torch.maximum(x.amax(dim=-1, keepdim=True), -x.amin(dim=-1, keepdim=True)).clamp_min_(_TINY)
        # reduce_range: without it the 16-bit sums of CPUs that lack VNNI overflow.
        y: torch.Tensor = torch.ops.quantized.linear_dynamic(x / size, self._weight, True)
        y.mul_(size)
        if self._bias is not None:
            y += self._bias
        return y


class Int8Together:
    """Layers without biases that read the same input: the first one asked computes for all."""

    def __init__(self, layers: Sequence[nn.Linear]) -> None:
        joined = nn.Linear(layers[0].in_features, sum(layer.out_features for layer in layers), bias=False)
        joined.weight = nn.Parameter(torch.cat([layer.weight for layer in layers]), False)
        self._joined = Int8Linear(joined)
        self._sizes = [layer.out_features for layer in layers]
        self._input: torch.Tensor | None = None
        self._parts: Sequence[torch.Tensor] = ()

    def part(self, index: int, x: torch.Tensor) -> torch.Tensor:
        if self._input is not x:
            self._input, self._parts = x, self.all(x)
        part = self._parts[index]
        if index == len(self._sizes) - 1:  # nothing that nobody asks for any more is kept
            self._input, self._parts = None, ()
        return part

    def all(self, x: torch.Tensor) -> Sequence[torch.Tensor]:
        parts: Sequence[torch.Tensor] = self._joined(x).split(self._sizes, dim=-1)
        return parts


class Int8Part(nn.Module):
    """One of them."""

    def __init__(self, together: Int8Together, index: int) -> None:
        super().__init__()
        self._together = together
        self._index = index

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._together.part(self._index, x)


class Int8Gated(nn.Module):
    """A gated feed-forward block, whose first two layers read the same input. The last one stays as it is."""

    def __init__(self, block: Any) -> None:
        super().__init__()
        self._both = Int8Together([block.gate_proj, block.up_proj])
        self.down_proj = block.down_proj
        self._activation = block.act_fn

    @staticmethod
    def fits(module: nn.Module) -> bool:
        """Whether it has the parts of such a block, without biases, and no others."""
        parts = dict(module.named_children())
        return parts.keys() == {"gate_proj", "up_proj", "down_proj", "act_fn"} and all(
            _is_plain(part) for name, part in parts.items() if name != "act_fn"
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate, up = self._both.all(x)
        y: torch.Tensor = self.down_proj(self._activation(gate).mul_(up))
        return y


#: Layers of an attention that are asked in this order about the same input.
_ATTENTION = ("q_proj", "k_proj", "v_proj")
#: Layers whose inputs have the largest outliers: most of the precision that 8 bits cost is lost there, and
#: without VNNI hardly any time is won.
_PRECISE = ("o_proj", "down_proj")


def quantise(model: nn.Module) -> nn.Module:
    """A copy of ``model`` with its linear layers in 8 bits, save _PRECISE ones and the output layer; the rest
    is shared."""
    shared = {id(parameter): parameter for parameter in model.parameters()}
    result = copy.deepcopy(model, shared)
    find_head: Any = getattr(result, "get_output_embeddings", lambda: None)
    head = find_head()
    for name, module in list(result.named_modules()):
        parent, _, attribute = name.rpartition(".")
        if Int8Gated.fits(module):
            setattr(result.get_submodule(parent), attribute, Int8Gated(module))
            continue
        projections = [getattr(module, item, None) for item in _ATTENTION]
        if all(_is_plain(item) for item in projections):
            together = Int8Together([item for item in projections if isinstance(item, nn.Linear)])
            for index, item in enumerate(_ATTENTION):
                setattr(module, item, Int8Part(together, index))
    for name, module in list(result.named_modules()):
        parent, _, attribute = name.rpartition(".")
        if isinstance(module, nn.Linear) and module is not head and attribute not in _PRECISE:
            setattr(result.get_submodule(parent), attribute, Int8Linear(module))
    return result


def _is_plain(module: Any) -> bool:
    return isinstance(module, nn.Linear) and module.bias is None
