"""How long submissions wait for their first test result on this GPU, cold and warm, per language."""

from typing import Any

from runners.contract.job import DeviceTarget
from runners.contract.vocabulary import Language, Mode, Verdict
from tests.benchmarks.verdict_latency import Entry, fixture, lines, measure
from tests.gpu import jobs

_INLINE = '''\
from torch.utils.cpp_extension import load_inline

CUDA = r"""
%s
__global__ void softmax(const float* x, float* y, int64_t cols) {
    const float* row = x + blockIdx.x * cols;
    float largest = -INFINITY, total = 0;
    for (int64_t i = 0; i < cols; ++i) largest = fmaxf(largest, row[i]);
    for (int64_t i = 0; i < cols; ++i) total += expf(row[i] - largest);
    for (int64_t i = threadIdx.x; i < cols; i += blockDim.x)
        y[blockIdx.x * cols + i] = expf(row[i] - largest) / total;
}
%s
"""
'''
#: As its manual shows it: torch's headers in both files.
_USUAL = (
    _INLINE
    % (
        "",
        """torch::Tensor run(torch::Tensor x) {
    auto y = torch::empty_like(x);
    softmax<<<x.size(0), 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}""",
    )
    + """
module = load_inline(
    "softmax", "torch::Tensor run(torch::Tensor x);", CUDA, functions=["run"], with_cuda=True
)


def kernel(x):
    return module.run(x.contiguous())
"""
)
#: Addresses in place of tensors, a plain library in place of a Python module: no header but CUDA's own.
_LEAN = (
    "import ctypes\n"
    + _INLINE
    % (
        "#include <cstdint>\n#include <cmath>",
        """extern "C" void run(const float* x, float* y, int64_t rows, int64_t cols) {
    softmax<<<rows, 256>>>(x, y, cols);
}""",
    )
    + """
library = ctypes.CDLL(
    load_inline("softmax", "", CUDA, with_cuda=True, is_python_module=False, no_implicit_headers=True)
)


def kernel(x, out):
    x = x.contiguous()
    pointers = (ctypes.c_void_p(tensor.data_ptr()) for tensor in (x, out))
    library.run(*pointers, *(ctypes.c_int64(size) for size in x.shape))
"""
)
_ENTRIES = (
    Entry("cuda", Language.CUDA, fixture("online.cu"), compiled=True),
    Entry("triton", Language.PYTHON, fixture("fused_triton.py")),
    Entry("torch", Language.PYTHON, fixture("in_place.py")),
    Entry("load_inline without torch's headers", Language.PYTHON, _LEAN),
    Entry("cuda, ranked", Language.CUDA, fixture("online.cu"), compiled=True, mode=Mode.RANKED),
    Entry("triton, ranked", Language.PYTHON, fixture("fused_triton.py"), mode=Mode.RANKED),
)
#: The goals for a warm start, seconds to the first test result.
_GOALS = {"cuda": 1.5, "triton": 3.0}


def run() -> dict[str, Any]:
    """Takes about two minutes."""
    found = jobs.device()
    target = DeviceTarget(found.kind, found.index, found.cores, found.facts)
    rows = measure(target, _ENTRIES, 2)
    return outcome(rows)


def run_load_inline() -> dict[str, Any]:
    """``load_inline`` with torch's headers, once: a minute or two by itself."""
    found = jobs.device()
    target = DeviceTarget(found.kind, found.index, found.cores, found.facts)
    entry = Entry("load_inline", Language.PYTHON, _USUAL, most_repeats=1)
    return outcome(measure(target, [entry], 1, starts=("warm",)))


def outcome(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What the rows come to: every submission must end as it should, in test mode within its goal."""
    ended = ([Verdict.PASSED], [Verdict.CANCELLED])  # a ranked run, once its first result is known
    passed = all(row["verdicts"] in ended and row["first_test"]["median"] for row in rows)
    goals = {
        f"{row['submission']} {row['source'] or ''}".strip(): {
            "goal": goal,
            "first_test": row["first_test"]["median"],
            # Ranked runs are told only: batches without a submission come before their first result.
            "must_hold": row["mode"] == Mode.TEST,
        }
        for row in rows
        if row["start"] == "warm" and (goal := _GOALS.get(row["submission"].partition(",")[0]))
    }
    missed = [
        f"{name}: first test {row['first_test']} s, the goal is {row['goal']} s"
        for name, row in goals.items()
        if row["must_hold"] and not (row["first_test"] and row["first_test"] <= row["goal"])
    ]
    return {"ok": passed and not missed, "rows": rows, "goals": goals, "summary": [*lines(rows), *missed]}
