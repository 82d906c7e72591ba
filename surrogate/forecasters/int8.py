"""Linear layers in 8 bits for the CPU.

torch's own dynamic quantisation scales a whole activation tensor at once, and a few tokens of a language
model have activations hundreds of times larger than the rest, which then round to nothing. Here each row is
first brought to the range [-1, 1] and the result scaled back, so a large token costs only itself precision.
"""

import copy
import math
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
        size = torch.linalg.vector_norm(x, ord=math.inf, dim=-1, keepdim=True).clamp_min_(_TINY)
        # reduce_range: without it the 16-bit sums of CPUs that lack VNNI overflow.
        y: torch.Tensor = torch.ops.quantized.linear_dynamic(x / size, self._weight, True)
        y.mul_(size)
        if self._bias is not None:
            y += self._bias
        return y


def quantise(model: nn.Module) -> nn.Module:
    """A copy of ``model`` with every linear layer but the output layer in 8 bits; the rest is shared."""
    shared = {id(parameter): parameter for parameter in model.parameters()}
    result = copy.deepcopy(model, shared)
    find_head: Any = getattr(result, "get_output_embeddings", lambda: None)
    head = find_head()
    for name, module in list(result.named_modules()):
        if isinstance(module, nn.Linear) and module is not head:
            parent, _, attribute = name.rpartition(".")
            setattr(result.get_submodule(parent), attribute, Int8Linear(module))
    return result
