# A fixed number of programs keep vectors of sums over strides of the input; a second launch adds their parts.
import torch
import triton
import triton.language as tl


@triton.jit
def strided_sums(x_ptr, part_ptr, count, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK,), tl.float32)
    stride = tl.num_programs(0).to(tl.int64) * BLOCK
    first = tl.program_id(0).to(tl.int64) * BLOCK
    while first < count:
        sums += tl.load(x_ptr + first + lanes, mask=first + lanes < count, other=0.0)
        first += stride
    tl.store(part_ptr + tl.program_id(0), tl.sum(sums, axis=0))


@triton.jit
def add_parts(part_ptr, total_ptr, parts, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(total_ptr, tl.sum(tl.load(part_ptr + lanes, mask=lanes < parts, other=0.0), axis=0))


def kernel(x):
    x = x.contiguous()  # where it is dense already, this is nothing
    count = x.numel()
    parts = min(1024, triton.cdiv(count, 4096))
    part = torch.empty(parts, dtype=torch.float32, device=x.device)
    total = torch.empty(1, dtype=torch.float32, device=x.device)
    strided_sums[(parts,)](x, part, count, BLOCK=4096, num_warps=8)
    add_parts[(1,)](part, total, parts, BLOCK=1024)
    return total
