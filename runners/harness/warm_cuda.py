"""Imported before a Python submission for a CUDA device is known: what torch and Triton do once per process.

Triton builds two small modules of its own with the host's compiler at its first launch, into the sandbox's
own cache. Whatever fails here fails again, with its words, where a submission asks for it.
"""

import contextlib

import torch

with contextlib.suppress(Exception):
    torch.zeros(1, device="cuda").add_(1).sum().item()

with contextlib.suppress(Exception):
    import triton
    import triton.language as tl

    @triton.jit
    def _store_one(place):  # type: ignore[no-untyped-def]
        tl.store(place, 1.0)

    _store_one[(1,)](torch.zeros(1, device="cuda"))
    torch.cuda.synchronize()
