import torch


def reference(q, k, v):
    # The library's fast paths want a batch axis.
    q, k, v = (item.unsqueeze(0) for item in (q, k, v))
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).squeeze(0)
