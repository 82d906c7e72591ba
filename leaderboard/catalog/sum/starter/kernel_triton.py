import torch
import triton
import triton.language as tl


@triton.jit
def partial_sums(x_ptr, total_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x_ptr + at, mask=at < count, other=0.0)
    tl.atomic_add(total_ptr, tl.sum(values, axis=0).to(tl.float64))


def kernel(x):
    x = x.contiguous()  # where it is dense already, this is nothing
    total = torch.zeros(1, dtype=torch.float64, device=x.device)
    partial_sums[(triton.cdiv(x.numel(), 4096),)](x, total, x.numel(), BLOCK=4096)
    return total.float()
