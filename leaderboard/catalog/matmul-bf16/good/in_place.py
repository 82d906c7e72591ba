# The library's product written straight into the preallocated output, with float32 sums throughout.
import torch

torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False


def kernel(a, b, out):
    torch.mm(a, b, out=out)
