# Wrong: weights and values are rounded to half precision before the second product.
import torch


def kernel(q, k, v):
    length, dim = q.shape[1:]
    scores = q @ k.transpose(1, 2) / dim**0.5
    future = torch.ones(length, length, dtype=torch.bool, device=q.device).triu(1)
    weights = torch.softmax(scores.masked_fill(future, -float("inf")), dim=2)
    top = v.abs().max()
    return (weights.half().float() @ (v / top).half().float()) * top
