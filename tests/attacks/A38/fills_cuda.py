"""Holds on to device memory until there is none."""

import torch

held = []


def kernel(x):
    while True:
        held.append(torch.empty(1 << 28, dtype=torch.uint8, device="cuda").fill_(1))
        if len(held) == 1:
            print("holds a piece", flush=True)
