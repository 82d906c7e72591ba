"""Small tasks of this suite's own."""

from runners.contract.parse import parse_task
from runners.contract.spec import TaskSpec

_STEPS = """\
#include <cstdint>
__global__ void steps(const float* x, float* y, int64_t count) {
    const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i >= count) return;
    float value = x[i];
    for (int k = 0; k < ROUNDS; ++k) value = fmaf(value, 0.5f, 1.0f);
    y[i] = value;
}
extern "C" void kernel(const float* x, float* y, int64_t count, cudaStream_t stream) {
    steps<<<unsigned((count + 255) / 256), 256, 0, stream>>>(x, y, count);
}
"""


def steps_source(rounds: int) -> str:
    """A kernel of ``rounds`` dependent steps per element, so that its time can be set."""
    return _STEPS.replace("ROUNDS", str(rounds))


def steps(rounds: int, count: int) -> TaskSpec:
    """``rounds`` times v = v / 2 + 1, which has a closed form; one benchmark case of ``count`` elements."""
    shrink = 0.5**rounds
    reference = f"def reference(x):\n    return x * {shrink!r} + {2 - 2 * shrink!r}\n"
    return parse_task(
        f"steps-{rounds}",
        {
            "languages": ["cuda", "python"],
            "sizes": ["count"],
            "inputs": [{"name": "x", "dtype": "float32", "shape": ["count"]}],
            "outputs": [{"name": "y", "dtype": "float32", "shape": ["count"]}],
            "tolerance": {"float32": {"atol": 1e-6, "rtol": 1e-5}},
            "cost": {"bytes": "8 * count", "flops": f"{2 * rounds} * count", "dtype": "float32"},
            "cases": {"cuda": {"test": [{"count": 1000}], "benchmark": [{"count": count}]}},
        },
        reference,
    )
