"""Small made-up requests and outcomes: kernels whose speed depends on what their source says."""

import random

from surrogate.contract.request import Anchor, CaseFacts, DeviceFacts, ForecastRequest, KernelText, TaskFacts
from surrogate.forecasters.base import Outcome

_WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")


def device(slug: str = "one", bandwidth: float = 1e12) -> DeviceFacts:
    ceilings = {
        "copy_bytes_per_s": bandwidth,
        "flops_per_s": {"float32": 20 * bandwidth},
        "launch_seconds": 1e-6,
    }
    return DeviceFacts(slug, "cuda", f"Device {slug}", {"multiprocessors": 64}, ceilings)


def task(slug: str = "sum") -> TaskFacts:
    # Each word of its own: tasks with nearly equal references would count as one.
    name = slug.replace("-", "_")
    steps = "".join(f".{name}_{step}()" for step in range(8))
    return TaskFacts(
        slug,
        f"def {name}(x):\n    return x{steps}\n",
        slug,
        cases=(CaseFacts("large", {"n": 2**20}, 4 * 2**20, 2**20),),
    )


def source(*, vector: int = 0, loops: int = 1, seed: int = 0) -> str:
    """CUDA text with ``vector`` vector loads and ``loops`` loops; ``seed`` changes its names."""
    words = random.Random(seed)
    lines = [f'extern "C" void kernel(const float* {words.choice(_WORDS)}) {{']
    lines += [f"  float4 {words.choice(_WORDS)}_{index} = load4({index});" for index in range(vector)]
    lines += [
        f"  for (int i = 0; i < {words.randrange(9)}; ++i) {words.choice(_WORDS)}();" for _ in range(loops)
    ]
    return "\n".join([*lines, "}"])


def request(
    *, kernel: str | None = None, slug: str = "sum", on: DeviceFacts | None = None, seconds: float = 1e-4
) -> ForecastRequest:
    return ForecastRequest(
        task(slug),
        KernelText("cuda", source() if kernel is None else kernel),
        on or device(),
        Anchor("eager", "cuda", source(loops=4, seed=99), {"large": seconds}),
    )


def outcomes(
    count: int = 120,
    *,
    tasks: int = 12,
    devices: tuple[str, ...] = ("one",),
    seed: int = 0,
    noise: float = 0.1,
) -> list[Outcome]:
    """Kernels that gain a third of an octave per vector load and lose as much per loop."""
    draw = random.Random(seed)
    made = []
    for index in range(count):
        vector, loops = draw.randrange(6), draw.randrange(1, 6)
        text = source(vector=vector, loops=loops, seed=draw.randrange(10**6))
        for slug in devices:
            ratio = (vector - loops) / 3 + draw.gauss(0, noise)
            made.append(
                Outcome(request(kernel=text, slug=f"task-{index % tasks}", on=device(slug)), ratio, 0.01)
            )
    return made
