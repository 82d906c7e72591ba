# Wrong: rounds the values to half precision, then adds them exactly.
import torch


def kernel(x):
    return x.half().double().sum().float().reshape(1)
