# Wrong: computes in half precision and converts back.
import torch


def kernel(x):
    peak = x.amax(dim=1, keepdim=True)
    return torch.softmax((x - peak).half(), dim=1).float()
