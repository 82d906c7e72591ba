# Wrong: probabilities are computed in half precision; the loss is right.
import torch


def kernel(logits, labels):
    loss = torch.nn.functional.cross_entropy(logits, labels, reduction="none")
    shifted = logits - logits.amax(dim=1, keepdim=True)
    dlogits = torch.softmax(shifted.half(), dim=1).float()
    dlogits[torch.arange(len(labels), device=labels.device), labels] -= 1
    return loss, dlogits
