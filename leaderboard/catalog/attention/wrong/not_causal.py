# Wrong: every position sees all others, also later ones.
import torch


def kernel(q, k, v):
    return torch.softmax(q @ k.transpose(1, 2) / q.shape[2] ** 0.5, dim=2) @ v
