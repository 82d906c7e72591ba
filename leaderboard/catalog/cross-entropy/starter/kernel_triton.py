import torch
import triton
import triton.language as tl


@triton.jit
def cross_entropy(x_ptr, labels_ptr, loss_ptr, dx_ptr, classes, BLOCK: tl.constexpr):
    # One program per row, in three passes over blocks of classes.
    row = tl.program_id(0).to(tl.int64)
    start = row * classes
    lanes = tl.arange(0, BLOCK)
    label = tl.load(labels_ptr + row)
    peak = -float("inf")
    for first in range(0, classes, BLOCK):
        here = first + lanes < classes
        x = tl.load(x_ptr + start + first + lanes, mask=here, other=-float("inf"))
        peak = tl.maximum(peak, tl.max(x, axis=0))
    total = 0.0
    for first in range(0, classes, BLOCK):
        here = first + lanes < classes
        x = tl.load(x_ptr + start + first + lanes, mask=here, other=-float("inf"))
        total += tl.sum(tl.exp(x - peak), axis=0)
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
    cross_entropy[(rows,)](logits, labels, loss, dlogits, classes, BLOCK=1024)
    return loss, dlogits
