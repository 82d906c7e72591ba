# The fused operator written into the preallocated output, so that only mean and deviation are allocated.
import torch


def kernel(x, weight, bias, out):
    mean = x.new_empty(x.shape[0], 1)
    deviation = torch.empty_like(mean)
    torch.ops.aten.native_layer_norm.out(
        x, [x.shape[1]], weight, bias, 1e-5, out0=out, out1=mean, out2=deviation
    )
