import torch


def reference(x, weight, bias):
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), weight, bias, eps=1e-5)


def condition(x, weight, bias):
    mean = x.mean(dim=-1, keepdim=True)
    scale = torch.rsqrt((x - mean).square().mean(dim=-1, keepdim=True) + 1e-5)
    return weight.abs() * scale * (x.abs() + x.abs().mean(dim=-1, keepdim=True)) + bias.abs()
