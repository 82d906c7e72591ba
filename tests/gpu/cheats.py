"""Kernels that try to look faster than they are on a GPU, and an honest one beside them."""

from typing import Any

from runners.contract.vocabulary import Language, Mode, Verdict
from tests.gpu import jobs
from tests.gpu.tasks import steps

_HEAD = """\
#include <cstdint>
#include <cstdlib>
#include <set>
#include <thread>
#include <unistd.h>
__global__ void step(const float* x, float* y, int64_t count) {
    const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < count) y[i] = fmaf(x[i], 0.5f, 1.0f);
}
static unsigned blocks(int64_t count) { return unsigned((count + 255) / 256); }
extern "C" void kernel(const float* x, float* y, int64_t count, cudaStream_t stream) {
"""
_NORMAL = "    step<<<blocks(count), 256, 0, stream>>>(x, y, count);\n"
_LATE_THREAD = """\
    std::thread([=] {
        usleep(2000);
        step<<<blocks(count), 256>>>(x, y, count);
        cudaDeviceSynchronize();
    }).detach();
"""
_SIDE_STREAM = """\
    static cudaStream_t own = nullptr;
    if (!own) cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    step<<<blocks(count), 256, 0, own>>>(x, y, count);
"""
_BY_ADDRESS = "    static std::set<float*> seen;\n    if (!seen.insert(y).second) return;\n" + _NORMAL
_SOME = "    step<<<blocks(count - count / 50), 256, 0, stream>>>(x, y, count - count / 50);\n"
_FIRST_ONLY = "    static int calls = 0;\n    if (++calls > 12) return;\n" + _NORMAL
# The slots of a batch lie side by side, and the first one can be found by watching the addresses.
_AHEAD = """\
    static const float* low_x = x;
    static float* low_y = y;
    static int64_t stride = INT64_MAX;
    static std::set<float*> done;
    if (y != low_y && llabs(y - low_y) < stride) stride = llabs(y - low_y);
    if (y < low_y) low_y = y, low_x = x;
    if (done.erase(y)) return;
    step<<<blocks(count), 256, 0, stream>>>(x, y, count);
    if (stride < INT64_MAX) {
        step<<<blocks(count), 256, 0, stream>>>(x + (low_x - x) + stride, low_y + stride, count);
        done.insert(low_y + stride);
    }
"""
_BEHIND = "    step<<<blocks(count + 7), 256, 0, stream>>>(x, y, count + 7);\n"
_OVERWRITES = _NORMAL + "    cudaMemsetAsync(const_cast<float*>(x), 0, 4, stream);\n"

#: name → (body, verdicts that are right)
CHEATS: dict[str, tuple[str, tuple[Verdict, ...]]] = {
    "honest": (_NORMAL, (Verdict.PASSED,)),
    "a thread does the work after the return": (_LATE_THREAD, (Verdict.WRONG, Verdict.RUNTIME_ERROR)),
    "work on a stream that events do not see": (_SIDE_STREAM, (Verdict.REFUSED,)),
    "remembers addresses": (_BY_ADDRESS, (Verdict.WRONG,)),
    "leaves out the last elements": (_SOME, (Verdict.WRONG,)),
    "works in the first calls only": (_FIRST_ONLY, (Verdict.WRONG,)),
    "does the work of another call ahead": (_AHEAD, (Verdict.WRONG, Verdict.RUNTIME_ERROR)),
    "writes behind its output": (_BEHIND, (Verdict.WRONG,)),
    "overwrites its input": (_OVERWRITES, (Verdict.WRONG,)),
}


def run() -> dict[str, Any]:
    spec = steps(1, 1 << 25)
    rows: list[dict[str, Any]] = []
    for name, (body, verdicts) in CHEATS.items():
        document = jobs.evaluate(spec, Language.CUDA, _HEAD + body + "}\n", Mode.BENCHMARK)
        rows.append(
            {
                "cheat": name,
                "ok": document["verdict"] in verdicts,
                "verdict": document["verdict"],
                "reason": document["reason"],
                "score": document["score"],
                "stderr": document["output"]["stderr"][-300:],
            }
        )
    lines = [
        f"{'ok' if row['ok'] else 'BAD'} {row['cheat']}: {row['verdict']}: {row['reason'][:200]}"
        for row in rows
    ]
    return {"ok": all(row["ok"] for row in rows), "rows": rows, "summary": lines}
