# Wrong: rounds the factors to 8-bit floats, as an FP8 product would.
import torch


def kernel(a, b):
    return a.to(torch.float8_e4m3fn).to(a.dtype) @ b.to(torch.float8_e4m3fn).to(b.dtype)
