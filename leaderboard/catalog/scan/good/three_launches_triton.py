# Sums of chunks, a scan of these in double, then a scan within each chunk: long rows use the whole device.
import torch
import triton
import triton.language as tl

CHUNK = 8192


@triton.jit
def chunk_sums(x_ptr, sums_ptr, cols, chunks, CHUNK: tl.constexpr):
    program = tl.program_id(0)
    row, chunk = (program // chunks).to(tl.int64), program % chunks
    at = chunk * CHUNK + tl.arange(0, CHUNK)
    x = tl.load(x_ptr + row * cols + at, mask=at < cols, other=0.0)
    tl.store(sums_ptr + program, tl.sum(x, axis=0).to(tl.float64))


@triton.jit
def scan_chunks(x_ptr, before_ptr, y_ptr, cols, chunks, CHUNK: tl.constexpr, LONG: tl.constexpr):
    program = tl.program_id(0)
    row, chunk = (program // chunks).to(tl.int64), program % chunks
    at = chunk * CHUNK + tl.arange(0, CHUNK)
    x = tl.load(x_ptr + row * cols + at, mask=at < cols, other=0.0)
    sums = tl.cumsum(x, axis=0)
    if LONG:
        # before_ptr holds running sums of whole chunks; the first chunk has none before it.
        before = tl.load(before_ptr + program - 1, mask=chunk > 0, other=0.0)
        sums += before.to(tl.float32)
    tl.store(y_ptr + row * cols + at, sums, mask=at < cols)


def kernel(x):
    rows, cols = x.shape
    y = torch.empty_like(x)
    if cols <= CHUNK:
        block = max(triton.next_power_of_2(cols), 32)
        scan_chunks[(rows,)](x, x, y, cols, 1, CHUNK=block, LONG=False)
        return y
    chunks = triton.cdiv(cols, CHUNK)
    sums = torch.empty(rows, chunks, dtype=torch.float64, device=x.device)
    chunk_sums[(rows * chunks,)](x, sums, cols, chunks, CHUNK=CHUNK, num_warps=8)
    before = torch.cumsum(sums, dim=1)
    scan_chunks[(rows * chunks,)](x, before, y, cols, chunks, CHUNK=CHUNK, LONG=True, num_warps=8)
    return y
