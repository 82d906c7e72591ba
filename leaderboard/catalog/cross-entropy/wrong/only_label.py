# Wrong: only the label's entry of the gradient is computed, the many small ones are left at zero.
import torch


def kernel(logits, labels):
    loss = torch.nn.functional.cross_entropy(logits, labels, reduction="none")
    dlogits = torch.zeros_like(logits)
    dlogits[torch.arange(len(labels), device=labels.device), labels] = torch.exp(-loss) - 1
    return loss, dlogits
