"""Keeps a workspace per shape between calls: memory is remembered, answers are not."""

import torch

workspaces = {}


def kernel(x, out):
    if x.shape not in workspaces:
        workspaces[x.shape] = torch.empty_like(x)
    twice = workspaces[x.shape]
    torch.mul(x, 2, out=twice)
    torch.add(twice, 1, out=out)
