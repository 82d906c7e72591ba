# On the CPU a few rows at a time, so that the temporary result stays in cache on its way to the output.
import torch


def kernel(x, weight, bias, out):
    rows, cols = x.shape
    step = rows if x.is_cuda else max(1, 65536 // cols)
    for first in range(0, rows, step):
        block = slice(first, first + step)
        out[block] = torch.nn.functional.layer_norm(x[block], (cols,), weight, bias, eps=1e-5)
