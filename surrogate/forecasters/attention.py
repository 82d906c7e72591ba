"""Attention for prompts whose beginning is kept: what is kept and what is new are attended to apart.

torch's own way needs a mask over both for that, computes the half that the mask hides, and repeats keys that
several heads share. Without a mask the kept part takes plain attention, the new part causal attention, and
the logarithms of their softmax sums, which both give, say how to weigh the two.
"""

from typing import Any

import torch
from torch import nn
from transformers import AttentionInterface, AttentionMaskInterface

NAME = "kernelhub_kept_and_new"
#: Kinds of models whose attention is what is computed here: causal, over everything before, softmax alone.
KINDS = frozenset({"llama"})


def fits(config: Any, device: torch.device, dtype: torch.dtype) -> bool:
    """Whether a model of this configuration may use it: on the CPU, in float32."""
    return device.type == "cpu" and dtype == torch.float32 and getattr(config, "model_type", "") in KINDS


def attend(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None = None,
    scaling: float | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """``query`` (batch, heads, new, size) over ``key`` and ``value`` (batch, groups, kept + new, size) to
    (batch, new, heads, size). Rows that are padded must be so behind their end."""
    batch, heads, new, size = query.shape
    groups, share = key.shape[1], heads // key.shape[1]
    kept = key.shape[2] - new
    own_key, own_value = (part[:, :, kept:].repeat_interleave(share, dim=1) for part in (key, value))
    found, weight = _flash(query, own_key, own_value, scaling, is_causal=True)
    if kept:
        # Heads that share their keys stand in one row of queries: nothing needs repeating.
        together = query.reshape(batch, groups, share * new, size)
        earlier, its_weight = _flash(together, key[:, :, :kept], value[:, :, :kept], scaling, is_causal=False)
        mix = torch.sigmoid(its_weight.reshape(batch, heads, new) - weight).unsqueeze(-1)
        found = torch.lerp(found, earlier.reshape(batch, heads, new, size), mix)
    return found.transpose(1, 2), None


def _flash(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float | None, *, is_causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """The output and the logarithm of the softmax's sum, (batch, heads, queries)."""
    found, weight = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        query, key, value, 0.0, is_causal, scale=scale
    )
    return found, weight


def _no_mask(*_: Any, **__: Any) -> None:
    return None


AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, _no_mask)
