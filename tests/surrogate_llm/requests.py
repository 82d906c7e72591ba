"""Forecast requests over tasks of our own, for prompts and forecasters."""

from dataclasses import replace

from surrogate.contract.request import (
    Anchor,
    CaseFacts,
    DeviceFacts,
    ForecastRequest,
    KernelText,
    Neighbour,
    TaskFacts,
)

REFERENCE = """\
import torch

def reference(x):
    return torch.softmax(x, dim=-1)
"""
KERNEL = """\
#include <cmath>
// twice as fast as the leader
extern "C" void kernel(const float* x, float* y, int64_t rows, int64_t cols) {
    for (int64_t r = 0; r < rows; ++r) {
        float top = -INFINITY, sum = 0;
        for (int64_t c = 0; c < cols; ++c) top = fmaxf(top, x[r * cols + c]);
        for (int64_t c = 0; c < cols; ++c) sum += y[r * cols + c] = expf(x[r * cols + c] - top);
        for (int64_t c = 0; c < cols; ++c) y[r * cols + c] /= sum;
    }
}
"""
DEVICE = DeviceFacts(
    "cpu-2",
    "cpu",
    "A processor, 2 cores",
    {"cores": 2, "l3_bytes": 32 * 2**20, "flags": ["avx2"]},
    {"copy_bytes_per_s": 1.2e10, "flops_per_s": {"float32": 9.1e10}, "launch_seconds": 2e-6},
)


def request(source: str = KERNEL, *, slug: str = "softmax", neighbours: tuple[Neighbour, ...] = ()):
    case = CaseFacts("cpu-bench", {"rows": 4096, "cols": 1000}, 32_768_000, 20_480_000)
    return ForecastRequest(
        TaskFacts(slug, REFERENCE, cases=(case,)),
        KernelText("cpp", source),
        DEVICE,
        Anchor("eager", "python", REFERENCE, {"cpu-bench": 3.21e-3}),
        neighbours,
    )


def neighbour(source: str, log2_ratio: float, device: DeviceFacts = DEVICE) -> Neighbour:
    return Neighbour(KernelText("cpp", source), device, log2_ratio)


OTHER_DEVICE = replace(DEVICE, slug="cpu-64", name="A larger processor")
