"""Kernels that break things. Each must get its verdict, and the next run on the GPU must be right."""

import time
from typing import Any

from runners.contract.vocabulary import Language, Mode, Verdict
from runners.gpu_health import check_gpu
from tests.gpu import jobs
from tests.gpu.tasks import steps, steps_source

_HEAD = (
    "#include <cstdint>\n#include <cstdio>\n#include <cassert>\n#include <unistd.h>\n#include <signal.h>\n"
)
_HOST = """
extern "C" void kernel(const float* x, float* y, int64_t count, cudaStream_t stream) {
    %s
}
"""
_ENDLESS = "__global__ void f(float* y) { while (((volatile float*)y)[0] != 12345.0f) {} }\n"
_ILLEGAL = "__global__ void f(float* y) { *(float*)0x10 = 1; }\n"
_ASSERT = "__global__ void f(float* y) { assert(y[0] == 12345.0f); }\n"
_NOTHING = "__global__ void f(float* y) {}\n"
_LAUNCH = "f<<<1, 1, 0, stream>>>(y);"

# One request for more than there is would fail at once and never fill anything.
_FILLS_THE_MEMORY = """
import torch

held = []


def kernel(x):
    while True:
        held.append(torch.empty(1 << 28, dtype=torch.uint8, device="cuda").fill_(1))
"""


def _cuda(device: str, host: str) -> tuple[Language, str]:
    return Language.CUDA, _HEAD + device + _HOST % host


_MUCH_OUTPUT = "2 MB of output"
_RIGHT_AND_LOUD = (
    "#include <cstdio>\n"
    + steps_source(1).removesuffix("}\n")
    + """\
    for (int i = 0; i < 40000; ++i) puts("fifty characters of output that nobody asked for ...");
}
"""
)

#: name → (language, source), the verdicts that are right, and a word that the reason must have
FAULTS: dict[str, tuple[tuple[Language, str], tuple[Verdict, ...], str]] = {
    "illegal address": (_cuda(_ILLEGAL, _LAUNCH), (Verdict.RUNTIME_ERROR,), "illegal"),
    "device assert": (_cuda(_ASSERT, _LAUNCH), (Verdict.RUNTIME_ERROR,), "assert"),
    "impossible launch": (
        _cuda(_NOTHING, "f<<<1, 4096, 0, stream>>>(y);"),
        (Verdict.RUNTIME_ERROR,),
        "invalid",
    ),
    "nothing written": (_cuda(_NOTHING, _LAUNCH), (Verdict.WRONG,), "nan"),
    # Right all the same: what is too much is cut, and costs no verdict.
    _MUCH_OUTPUT: ((Language.CUDA, _RIGHT_AND_LOUD), (Verdict.PASSED,), ""),
    "killed": (
        _cuda(_NOTHING, "kill(getpid(), SIGKILL);"),
        (Verdict.RUNTIME_ERROR, Verdict.RESOURCE_LIMIT),
        "",
    ),
    "exits": (_cuda(_NOTHING, "_exit(0);"), (Verdict.RUNTIME_ERROR,), "exited"),
    "out of memory": (
        (Language.PYTHON, _FILLS_THE_MEMORY),
        (Verdict.RESOURCE_LIMIT,),
        "memory",
    ),
    "wrong device": (
        (Language.PYTHON, "def kernel(x):\n    return (x * 0.5 + 1).cpu()\n"),
        (Verdict.WRONG,),
        "cpu instead of cuda",
    ),
    "changes its input": (
        (Language.PYTHON, "def kernel(x):\n    return x.mul_(0.5).add_(1).clone()\n"),
        (Verdict.WRONG,),
        "changed",
    ),
    "never ends": (_cuda(_ENDLESS, _LAUNCH), (Verdict.TIMEOUT,), "took longer"),
}


def run() -> dict[str, Any]:
    spec = steps(1, 1 << 20)
    rows: list[dict[str, Any]] = []
    for name, ((language, source), verdicts, word) in FAULTS.items():
        start = time.monotonic()
        document = jobs.evaluate(spec, language, source, Mode.TEST)
        seconds = time.monotonic() - start
        sick = check_gpu(jobs.device().index)
        after = jobs.evaluate(spec, Language.CUDA, steps_source(1), Mode.TEST)
        right = document["verdict"] in verdicts and word in document["reason"]
        right = right and document["output"]["truncated"] == (name == _MUCH_OUTPUT)
        rows.append(
            {
                "fault": name,
                "ok": right and not sick and after["verdict"] == Verdict.PASSED,
                "health": sick,
                "verdict": document["verdict"],
                "reason": document["reason"],
                "stderr": document["output"]["stderr"][-500:],
                "truncated": document["output"]["truncated"],
                "seconds": seconds,
                "next_run": after["verdict"],
                "next_reason": after["reason"],
            }
        )
    lines = [
        f"{'ok' if row['ok'] else 'BAD'} {row['fault']}: {row['verdict']} in {row['seconds']:.1f} s: "
        f"{row['reason'][:160]} | {row['health']} next: {row['next_run']} {row['next_reason'][:80]}"
        for row in rows
    ]
    return {"ok": all(row["ok"] for row in rows), "rows": rows, "summary": lines}
