# Wrong: keeps 10 bits of each factor's mantissa, as TF32 does.
import torch


def kernel(a, b):
    def rounded(matrix):
        bits = matrix.view(torch.int32)
        return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)

    return rounded(a) @ rounded(b)
