# Each program builds histograms of its blocks on chip and adds the result to the total once per bin.
import torch
import triton
import triton.language as tl


@triton.jit
def count(values_ptr, counts_ptr, number, BLOCK: tl.constexpr, BINS: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    mine = tl.zeros((BINS,), tl.int32)
    padding = 0
    stride = tl.num_programs(0).to(tl.int64) * BLOCK
    first = tl.program_id(0).to(tl.int64) * BLOCK
    while first < number:
        here = first + lanes < number
        values = tl.load(values_ptr + first + lanes, mask=here, other=0)
        mine += tl.histogram(values, BINS)
        padding += BLOCK - tl.sum(here.to(tl.int32), axis=0)
        first += stride
    # Lanes past the end were counted as zeros.
    bins = tl.arange(0, BINS)
    mine = tl.where(bins == 0, mine - padding, mine)
    tl.atomic_add(counts_ptr + bins, mine)


def kernel(values):
    counts = torch.zeros(1024, dtype=torch.int32, device=values.device)
    programs = min(1056, triton.cdiv(values.numel(), 4096))
    count[(programs,)](values, counts, values.numel(), BLOCK=4096, BINS=1024, num_warps=8)
    return counts
