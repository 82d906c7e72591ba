import torch
import triton
import triton.language as tl


@triton.jit
def count(values_ptr, counts_ptr, number, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    here = at < number
    values = tl.load(values_ptr + at, mask=here, other=0)
    tl.atomic_add(counts_ptr + values, 1, mask=here)


def kernel(values):
    counts = torch.zeros(1024, dtype=torch.int32, device=values.device)
    count[(triton.cdiv(values.numel(), 1024),)](values, counts, values.numel(), BLOCK=1024)
    return counts
