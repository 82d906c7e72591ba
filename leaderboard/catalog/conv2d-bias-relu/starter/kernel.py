import torch


def kernel(x, weight, bias):
    batch, _, height, width = x.shape
    columns = torch.nn.functional.unfold(x, 3, padding=1)  # batch, 9 * channels, pixels
    sums = weight.flatten(1) @ columns + bias[:, None]
    return sums.clamp_min(0).reshape(batch, -1, height, width)
