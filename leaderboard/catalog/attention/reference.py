import torch


def reference(q, k, v):
    # The library's fast paths want a batch axis.
    q, k, v = (item.unsqueeze(0) for item in (q, k, v))
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).squeeze(0)


def condition(q, k, v):
    # A score off by e changes every weight of its row by a share of 2 e at most.
    scores = (q.abs() @ k.abs().transpose(1, 2)).amax(dim=2, keepdim=True) / q.shape[-1] ** 0.5
    return (1 + scores) * v.abs().amax(dim=1, keepdim=True)
