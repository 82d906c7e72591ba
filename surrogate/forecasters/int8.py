"""Linear layers in 8 bits for the CPU.

torch's own dynamic quantisation scales a whole activation tensor at once, and a few tokens of a language
model have activations hundreds of times larger than the rest, which then round to nothing. Here each row is
first brought to the range [-1, 1] and the result scaled back, so a large token costs only itself precision.
"""

import copy
import warnings
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


class Int8Gated(nn.Module):
    """A gated feed-forward block of three such layers, whose first two read the same input: one product."""

    def __init__(self, block: Any) -> None:
        super().__init__()
        both = nn.Linear(block.gate_proj.in_features, 2 * block.gate_proj.out_features, bias=False)
        both.weight = nn.Parameter(torch.cat([block.gate_proj.weight, block.up_proj.weight]), False)
        self._both = Int8Linear(both)
        self._down = Int8Linear(block.down_proj)
        self._activation = block.act_fn

    @staticmethod
    def fits(module: nn.Module) -> bool:
        """Whether it has the parts of such a block, without biases, and no others."""
        parts = dict(module.named_children())
        return parts.keys() == {"gate_proj", "up_proj", "down_proj", "act_fn"} and all(
            isinstance(part, nn.Linear) and part.bias is None
            for name, part in parts.items()
            if name != "act_fn"
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate, up = self._both(x).chunk(2, dim=-1)
        y: torch.Tensor = self._down(self._activation(gate).mul_(up))
        return y


def quantise(model: nn.Module) -> nn.Module:
    """A copy of ``model`` with every linear layer but the output layer in 8 bits; the rest is shared."""
    shared = {id(parameter): parameter for parameter in model.parameters()}
    result = copy.deepcopy(model, shared)
    find_head: Any = getattr(result, "get_output_embeddings", lambda: None)
    head = find_head()
    for name, module in list(result.named_modules()):
        parent, _, attribute = name.rpartition(".")
        if Int8Gated.fits(module):
            setattr(result.get_submodule(parent), attribute, Int8Gated(module))
    for name, module in list(result.named_modules()):
        parent, _, attribute = name.rpartition(".")
        if isinstance(module, nn.Linear) and module is not head:
            setattr(result.get_submodule(parent), attribute, Int8Linear(module))
    return result
