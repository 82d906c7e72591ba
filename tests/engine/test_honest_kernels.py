"""Correct kernels pass, in both languages and all modes, with a complete result document."""

import base64
import gzip
import json
from dataclasses import replace
from statistics import median
from typing import Any

import pytest

from runners.contract.job import DeviceTarget
from runners.contract.progress import apply, empty
from runners.contract.result import ResultDocument
from runners.contract.vocabulary import Mode
from tests.engine.conftest import GOOD_CPP, GOOD_PYTHON, Evaluate, make_spec

pytestmark = pytest.mark.sandbox

OUT_PYTHON = "import torch\n\ndef kernel(x, out):\n    torch.mul(x, 2, out=out).add_(1)\n"
#: A compiled extension within seconds: neither torch's headers nor a Python module.
INLINE_PYTHON = '''
import ctypes
from torch.utils.cpp_extension import load_inline
SOURCE = """
#include <cstdint>
extern "C" void run(const float* x, float* y, int64_t count) {
    for (int64_t i = 0; i < count; ++i) y[i] = 2 * x[i] + 1;
}
"""
library = ctypes.CDLL(load_inline("twice", SOURCE, is_python_module=False, no_implicit_headers=True))
def kernel(x, out):
    library.run(ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(out.data_ptr()), ctypes.c_int64(x.numel()))
'''


@pytest.mark.parametrize("source", [GOOD_CPP, GOOD_PYTHON, OUT_PYTHON], ids=["cpp", "returned", "out"])
def test_correct_kernel_passes_every_case(evaluate: Evaluate, source: str) -> None:
    document = evaluate(source)
    assert (document["verdict"], document["reason"]) == ("passed", "")
    assert [case["status"] for case in document["tests"]] == ["passed"] * 3
    assert all(case["deterministic"] and case["repeats"] == 5 for case in document["tests"])
    assert [(stage["stage"], stage["status"]) for stage in document["stages"]] == [
        ("screen", "passed"),
        ("compile", "passed"),
        ("verify", "passed"),
    ]


@pytest.mark.parametrize("source", [GOOD_CPP, GOOD_PYTHON], ids=["cpp", "python"])
def test_ranked_run_has_a_score_and_hidden_cases(evaluate: Evaluate, source: str) -> None:
    document = evaluate(source, Mode.RANKED)
    assert document["verdict"] == "passed", document["reason"]
    hidden = [case for case in document["tests"] if case["hidden"]]
    assert len(hidden) == 3
    assert all(case["description"] == "hidden case" and "outputs" not in case for case in hidden)
    (timing,) = document["benchmarks"]
    score = document["score"]
    assert score is not None
    assert 0 < timing["ci_low"] <= timing["seconds"] <= timing["ci_high"]
    assert score["seconds"] == pytest.approx(timing["seconds"])
    lengths = sorted(map(int, timing["samples"]))
    assert len(lengths) == 2
    assert all(len(timing["samples"][str(length)]) >= 3 for length in lengths)
    assert timing["checked_outputs"] > 2
    spent = timing["spent"]
    assert set(spent) == {
        *("open", "warm_up", "sample", "warm", "alone"),
        *("batches", "quick_looks", "exact_looks"),
    }
    looked = spent["batches"] + spent["quick_looks"] + spent["exact_looks"]
    assert 0 < looked <= spent["sample"] + 0.01
    assert timing.get("warm_seconds", 1) > 0, "where none came out above the noise, none is told"
    compiling = sum(entry.get("seconds", 0) for entry in document["stages"])
    assert document["device_seconds"] >= compiling > 0, "the device waits while its runner compiles"
    assert document["work"] == ("own" if source == GOOD_CPP else "library")
    assert any(launch["library"] for launch in document["launches"]) == (source == GOOD_PYTHON)


def test_an_extension_is_compiled_inside(evaluate: Evaluate) -> None:
    document = evaluate(INLINE_PYTHON, language="python")
    assert document["verdict"] == "passed", document["reason"]


def test_the_copy_of_returned_tensors_is_told_apart_and_not_taken_off(
    evaluate: Evaluate, target: DeviceTarget
) -> None:
    measured = replace(target, ceilings={"copy_bytes_per_s": 2**40})
    returned = evaluate(GOOD_PYTHON, Mode.BENCHMARK, target=measured)["benchmarks"][0]
    assert returned["copy_seconds"] == 2 * 1024 * 512 * 4 / 2**40
    samples = {int(length): times for length, times in returned["samples"].items()}
    short, long = sorted(samples)
    slope = (median(samples[long]) - median(samples[short])) / (long - short)
    assert returned["seconds"] >= slope
    assert evaluate(OUT_PYTHON, Mode.BENCHMARK, target=measured)["benchmarks"][0]["copy_seconds"] == 0


def test_check_mode_compiles_only_and_lists_assembly(evaluate: Evaluate) -> None:
    document = evaluate(GOOD_CPP, Mode.CHECK)
    assert document["verdict"] == "passed"
    assert document["device_seconds"] == 0
    assert document["tests"] == []
    lines = document["compile"]["listing"][0]["lines"]
    assert any(line == 3 for line, _ in lines), "no instruction is linked to the loop's line"


@pytest.mark.parametrize("source", [GOOD_CPP, GOOD_PYTHON], ids=["cpp", "python"])
def test_profile_mode_reports_rates(evaluate: Evaluate, source: str) -> None:
    document = evaluate(source, Mode.PROFILE)
    assert document["verdict"] == "passed", document["reason"]
    profile = document["profile"]
    assert profile["bytes_per_s"] > 0
    assert ("aten::" in profile.get("table", "")) == (source == GOOD_PYTHON)
    assert profile["memory_share"] is None  # no ceilings were given
    assert profile["counters"].startswith("Hardware counters are read on GPUs alone")
    if source == GOOD_PYTHON:
        trace = json.loads(gzip.decompress(base64.b64decode(document["trace"])))
        assert any("aten::" in event.get("name", "") for event in trace["traceEvents"])
        assert len(base64.b64decode(document["trace"])) == profile["raw_bytes"]


def test_what_the_profiler_says_is_not_the_submissions_output(evaluate: Evaluate) -> None:
    output = evaluate(f"print('USDT: said by the submission')\n{GOOD_PYTHON}", Mode.PROFILE)["output"]
    assert (output["stdout"], output["stderr"]) == ("USDT: said by the submission\n", "")


def test_second_build_of_the_same_source_comes_from_the_cache(evaluate: Evaluate) -> None:
    source = GOOD_CPP + "// built twice\n"
    first, second = evaluate(source), evaluate(source)
    assert not first["compile"]["cached"]
    assert second["compile"]["cached"]
    assert second["verdict"] == "passed"


def test_events_fold_into_the_progress_a_page_draws(evaluate: Evaluate) -> None:
    events: list[dict[str, Any]] = []
    document = evaluate(GOOD_CPP, Mode.BENCHMARK, events=events)
    progress = empty()
    for event in events:
        progress = apply(progress, event)
    assert progress["plan"] == {"tests": 3, "benchmarks": 1}
    assert progress["tests"] == document["tests"]
    assert [stage["status"] for stage in progress["stages"]] == ["passed"] * 4
    assert "samples" not in progress["benchmarks"][0]


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int64", "int32", "uint8"])
def test_every_dtype_travels_both_ways(evaluate: Evaluate, dtype: str) -> None:
    tensor = {"dtype": dtype, "shape": ["rows", "cols"]}
    bounds = {"low": 0, "high": 50} if "int" in dtype else {}
    spec = make_spec(
        "def reference(x):\n    return x + x\n",
        inputs=[{"name": "x", **tensor, **bounds}],
        outputs=[{"name": "y", **tensor}],
        tolerance={dtype: {"atol": 0.0, "rtol": 0.0}},
    )
    document: ResultDocument = evaluate("def kernel(x):\n    return x + x\n", spec=spec)
    assert document["verdict"] == "passed", document["reason"]


def test_several_inputs_and_outputs(evaluate: Evaluate) -> None:
    spec = make_spec(
        "def reference(x, i):\n    return x.sum(1), i + 1\n",
        inputs=[
            {"name": "x", "dtype": "float32", "shape": ["rows", "cols"]},
            {"name": "i", "dtype": "int32", "shape": ["cols"], "low": 0, "high": "rows"},
        ],
        outputs=[
            {"name": "s", "dtype": "float32", "shape": ["rows"]},
            {"name": "j", "dtype": "int32", "shape": ["cols"]},
        ],
        tolerance={"float32": {"atol": 1e-4, "rtol": 1e-5}},
    )
    source = (
        "#include <cstdint>\n"
        'extern "C" void kernel(const float* x, const int32_t* i, float* s, int32_t* j,\n'
        "                       int64_t rows, int64_t cols) {\n"
        "  for (int64_t r = 0; r < rows; r++) {\n"
        "    double sum = 0;\n"
        "    for (int64_t c = 0; c < cols; c++) sum += x[r * cols + c];\n"
        "    s[r] = sum;\n"
        "  }\n"
        "  for (int64_t c = 0; c < cols; c++) j[c] = i[c] + 1;\n"
        "}\n"
    )
    assert evaluate(source, spec=spec)["verdict"] == "passed"
    python = "def kernel(x, i, out):\n    out[0].copy_(x.sum(1))\n    out[1].copy_(i + 1)\n"
    assert evaluate(python, spec=spec)["verdict"] == "passed"
