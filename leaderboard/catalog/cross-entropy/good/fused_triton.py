# A row of up to 16384 classes is loaded once; longer ones use the online softmax and are read twice.
import torch
import triton
import triton.language as tl


@triton.jit
def whole_row(x_ptr, labels_ptr, loss_ptr, dx_ptr, classes, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    start = row * classes
    at = tl.arange(0, BLOCK)
    label = tl.load(labels_ptr + row)
    x = tl.load(x_ptr + start + at, mask=at < classes, other=-float("inf"))
    shifted = x - tl.max(x, axis=0)
    weights = tl.exp(shifted)
    total = tl.sum(weights, axis=0)
    own = tl.sum(tl.where(at == label, shifted, 0.0), axis=0)
    tl.store(loss_ptr + row, tl.log(total) - own)
    gradient = weights / total - tl.where(at == label, 1.0, 0.0)
    tl.store(dx_ptr + start + at, gradient, mask=at < classes)


@triton.jit
def long_row(x_ptr, labels_ptr, loss_ptr, dx_ptr, classes, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    start = row * classes
    lanes = tl.arange(0, BLOCK)
    label = tl.load(labels_ptr + row)
    peak = -float("inf")
    total = 0.0
    for first in range(0, classes, BLOCK):
        here = first + lanes < classes
        x = tl.load(x_ptr + start + first + lanes, mask=here, other=-float("inf"))
        higher = tl.maximum(peak, tl.max(x, axis=0))
        total = total * tl.exp(peak - higher) + tl.sum(tl.exp(x - higher), axis=0)
        peak = higher
    tl.store(loss_ptr + row, tl.log(total) - (tl.load(x_ptr + start + label) - peak))
    for first in range(0, classes, BLOCK):
        at = first + lanes
        x = tl.load(x_ptr + start + at, mask=at < classes, other=-float("inf"))
        gradient = tl.exp(x - peak) / total - tl.where(at == label, 1.0, 0.0)
        tl.store(dx_ptr + start + at, gradient, mask=at < classes)


def kernel(logits, labels):
    rows, classes = logits.shape
    loss = torch.empty(rows, dtype=logits.dtype, device=logits.device)
    dlogits = torch.empty_like(logits)
    if classes <= 16384:
        block = max(triton.next_power_of_2(classes), 32)
        warps = 4 if block <= 2048 else 8 if block <= 8192 else 16
        whole_row[(rows,)](logits, labels, loss, dlogits, classes, BLOCK=block, num_warps=warps)
    else:
        long_row[(rows,)](logits, labels, loss, dlogits, classes, BLOCK=8192, num_warps=16)
    return loss, dlogits
