"""The supervisor's slope beside CUDA events in the same run, and beside triton.testing.do_bench in a process
without any of this: the same kernel at five lengths from microseconds to milliseconds.

The other process calls from C as well, on memory that it has pushed out of the cache; do_bench calls one
place again and again from Python, and is shown only.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from runners.contract.vocabulary import Language, Mode, Verdict
from runners.sandbox import nvidia
from tests.gpu import jobs
from tests.gpu.tasks import steps, steps_source

#: (rounds, elements). The first is over before the next launch: its time is the host's, which differs from
#: process to process. The others keep the device busy.
_KERNELS = ((1, 1 << 16), (2500, 1 << 16), (1, 1 << 24), (1, 1 << 26), (512, 1 << 26), (2000, 1 << 26))
_AGREES = 0.01
#: How far beyond the readings of other processes a launch-bound kernel's slope may lie.
_LAUNCHES_VARY = 0.1
_PROCESSES = 3
_BENCH = r"""
import ctypes, json, sys, torch
from triton.testing import do_bench
library, count = ctypes.CDLL(sys.argv[1]), int(sys.argv[2])
slots = max(16, min(8192, (12 << 30) // (8 * count)))
long = max(16, min(slots, int(0.02 / (3e-6 + 8 * count / 3e12)))); short = long // 4
scratch = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
x = torch.randn(slots, count, device="cuda"); y = torch.empty_like(x)
def call(slot):
    library.kernel(ctypes.c_void_p(x[slot].data_ptr()), ctypes.c_void_p(y[slot].data_ptr()),
                   ctypes.c_int64(count), ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
bench = do_bench(lambda: call(0), warmup=100, rep=400, return_mode="median") / 1e3
begin, end = (torch.cuda.Event(enable_timing=True) for _ in "be")
def events(n):
    first = torch.randint(slots - n + 1, ()).item()
    scratch.zero_(); torch.cuda.synchronize(); begin.record()
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    library.many(ctypes.c_void_p(x[first].data_ptr()), ctypes.c_void_p(y[first].data_ptr()),
                 ctypes.c_int64(count), ctypes.c_int64(n), stream)
    end.record(); torch.cuda.synchronize()
    return begin.elapsed_time(end) / 1e3
events(long)
few = sorted(events(short) for _ in range(31))[15]; many = sorted(events(long) for _ in range(31))[15]
print(json.dumps({"do_bench": bench, "events": (many - few) / (long - short), "calls": [short, long]}))
"""
_MANY = """
extern "C" void many(const float* x, float* y, int64_t count, int64_t calls, cudaStream_t stream) {
    for (int64_t k = 0; k < calls; ++k) kernel(x + k * count, y + k * count, count, stream);
}
"""


def run() -> dict[str, Any]:
    rows = []
    for rounds, count in _KERNELS:
        source = steps_source(rounds)
        document = jobs.evaluate(steps(rounds, count), Language.CUDA, source, Mode.RANKED)
        row: dict[str, Any] = {"rounds": rounds, "elements": count, "verdict": document["verdict"]}
        row["launch_bound"] = (rounds, count) == _KERNELS[0]
        row["reason"] = document["reason"]
        if document["verdict"] == Verdict.PASSED:
            (timing,) = document["benchmarks"]
            for name in ("seconds", "ci_low", "ci_high", "event_seconds", "overhead_seconds", "samples"):
                row[name] = timing.get(name)
            row["calls"] = [int(length) for length in timing["samples"]]
            row["stages"] = jobs.stages(document)
        row |= _in_process(source, count)
        rows.append(row)
    return {"ok": all(map(agrees, rows)), "rows": rows, "summary": [_HEAD, *map(_line, rows)]}


_HEAD = (
    "elements rounds | slope us (± %) | events in child | in process | do_bench | calls, batches, overhead"
)


def agrees(row: dict[str, Any]) -> bool:
    """Within 1 % or the interval's half-width of events in other processes, their median. A kernel that ends
    before its successor can be launched takes the host's time, which differs by more than that from process
    to process: it must lie among theirs, or 10 % beyond. do_bench adds its own cost per call and is shown
    only.
    """
    if "seconds" not in row or "events" not in row:
        return False
    if row["launch_bound"]:
        low, high = (1 - _LAUNCHES_VARY) * min(row["each"]), (1 + _LAUNCHES_VARY) * max(row["each"])
        return bool(low <= row["seconds"] <= high)
    half_width = (row["ci_high"] - row["ci_low"]) / 2
    apart = abs(row["seconds"] - row["events"])
    return bool(apart <= max(_AGREES * row["events"], half_width))


def _line(row: dict[str, Any]) -> str:
    if "seconds" not in row:
        return f"{row['elements']} {row['rounds']} | {row['verdict']}: {row['reason'][:200]}"
    half = 50 * (row["ci_high"] - row["ci_low"]) / row["seconds"]
    cells = [jobs.microseconds(row.get(name)) for name in ("event_seconds", "events", "do_bench")]
    if "each" in row:
        cells[1] += f" ({', '.join(map(jobs.microseconds, row['each']))})"
    time = f"{jobs.microseconds(row['seconds'])} (± {half:.2f})"
    batches = f"{row['calls']}, {[len(times) for times in row['samples'].values()]}"
    batches += f", {jobs.microseconds(row['overhead_seconds'])}; {row['stages']}"
    return " | ".join([f"{row['elements']} {row['rounds']}", time, *cells, batches])


def _in_process(source: str, count: int) -> dict[str, Any]:
    """The same source built by hand and timed by processes of its own, which differ by up to a few per cent
    where a kernel takes about as long as a launch.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "k.cu").write_text(source + _MANY)
        target = jobs.device().facts["compute_capability"].replace(".", "")
        command = ["nvcc", "-O3", "-std=c++17", f"-arch=sm_{target}", "-shared", "-Xcompiler", "-fPIC"]
        subprocess.run([*command, "-o", path / "k.so", path / "k.cu"], check=True)
        found: list[dict[str, Any]] = []
        for _ in range(_PROCESSES):
            done = subprocess.run(
                [sys.executable, "-c", _BENCH, path / "k.so", str(count)],
                env={**os.environ, **nvidia.environment(jobs.device().index)},
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                return {"in_process_error": done.stderr[-500:]}
            found.append(json.loads(done.stdout.strip().splitlines()[-1]))
    each = [one["events"] for one in found]
    return {
        "events": statistics.median(each),
        "each": each,
        "do_bench": statistics.median(one["do_bench"] for one in found),
        "in_process_calls": found[0]["calls"],
    }
