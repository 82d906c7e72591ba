"""What the first evaluation in a process pays for once, done before there is one. Imports torch."""

import torch

from runners.contract.spec import TensorSpec, Tolerance
from runners.contract.vocabulary import DeviceKind
from runners.harness import cuda_driver
from runners.supervisor import torch_inputs
from runners.supervisor.compare import compare

_FILLS = ("normal", "uniform", "constant", "heavy", "zeros")
_DTYPES = ("float32", "float16", "bfloat16")


def rehearse(kind: DeviceKind) -> None:
    """Opens the device. On CUDA each kernel is loaded at its first launch: the usual ones are launched."""
    if kind != DeviceKind.CUDA:
        return
    from runners.supervisor.cuda_arena import ORDINAL

    device = f"cuda:{ORDINAL}"
    torch.zeros(1, device=device)
    cuda_driver.use_device(ORDINAL)
    for dtype in _DTYPES:
        tensor = TensorSpec("x", dtype, ("n",))
        place = torch.empty(1 << 12, dtype=getattr(torch, dtype), device=device)
        for fill in _FILLS:
            torch_inputs.fill(
                place, tensor, {"n": 1 << 12}, fill, torch_inputs.generator(device, "rehearsal")
            )
        compare("x", place, place.to(torch.float64), Tolerance(0.0, 0.0))
        torch.equal(place.view(torch.uint8), place.clone().view(torch.uint8))
    torch.cuda.synchronize()
