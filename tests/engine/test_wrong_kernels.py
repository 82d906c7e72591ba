"""Wrong kernels fail, and the result says where and why."""

import pytest

from runners.backends.cpp import toolchain
from runners.contract.vocabulary import Language, Mode, lacks_compiler
from runners.devices import detect
from tests.engine.conftest import CPP, GOOD_CPP, Evaluate

pytestmark = pytest.mark.sandbox


def test_unwritten_last_element_is_found_and_named(evaluate: Evaluate) -> None:
    document = evaluate(CPP.format("for (int64_t i = 0; i < rows * cols - 1; i++) y[i] = 2 * x[i] + 1;"))
    assert document["verdict"] == "wrong"
    assert document["failed_stage"] == "verify"
    assert document["reason"].startswith(
        "Case cpu-test-3x5: output y: 1 of 15 elements differ; worst at [2, 4]"
    )
    first = document["tests"][0]
    assert first["status"] == "failed"
    assert first["outputs"][0]["worst_index"] == [2, 4]
    assert first["outputs"][0]["got"] == "nan"
    assert len(document["tests"]) == 3, "a wrong answer must not keep the other cases from being shown"


def test_worst_element_and_error_are_reported(evaluate: Evaluate) -> None:
    document = evaluate("def kernel(x):\n    y = 2 * x + 1\n    y[1, 2] += 5\n    return y\n")
    error = document["tests"][0]["outputs"][0]
    assert (error["mismatches"], error["worst_index"]) == (1, [1, 2])
    assert error["max_abs_error"] == pytest.approx(5, abs=1e-3)
    assert float(error["got"]) - float(error["want"]) == pytest.approx(5, abs=1e-3)


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ("(2 * x + 1)[:, :1]", "output y: shape (3, 1) instead of (3, 5)"),
        ("(2 * x + 1).double()", "output y: dtype torch.float64 instead of torch.float32"),
        ("[]", "kernel returned 0 tensors instead of 1"),
        ("None", "kernel returned NoneType instead of a tensor"),
        ("torch.nn.Parameter(2 * x + 1)", "output y: Parameter instead of a plain torch.Tensor"),
    ],
)
def test_broken_contract_is_said_in_words(evaluate: Evaluate, returned: str, words: str) -> None:
    document = evaluate(f"import torch\n\ndef kernel(x):\n    return {returned}\n")
    assert document["verdict"] == "wrong"
    assert words in document["reason"]


def test_changed_input_is_wrong(evaluate: Evaluate) -> None:
    document = evaluate("def kernel(x):\n    return x.mul_(2).add_(1)\n")
    assert document["verdict"] == "wrong"
    assert "input x was changed" in document["reason"]


def test_input_changed_only_while_timed_ends_the_process(evaluate: Evaluate) -> None:
    document = evaluate(
        "def kernel(x):\n    if x.numel() > 1000: x.zero_()\n    return 2 * x + 1\n", Mode.BENCHMARK
    )
    assert document["verdict"] == "runtime_error"
    assert "SIGSEGV" in document["reason"]
    assert "inputs are read-only" in document["reason"]


def test_exception_names_type_text_and_line(evaluate: Evaluate) -> None:
    document = evaluate("def kernel(x):\n    raise ValueError('no way')\n")
    assert document["verdict"] == "runtime_error"
    assert "ValueError: no way (kernel.py, line 2)" in document["reason"]
    assert "no way" in document["output"]["stderr"]


def test_failing_import_is_told_apart(evaluate: Evaluate) -> None:
    document = evaluate("import nowhere_to_be_found\n\ndef kernel(x):\n    return x\n")
    assert document["verdict"] == "runtime_error"
    assert "Loading failed: ModuleNotFoundError" in document["reason"]


def test_compile_error_has_the_users_line(evaluate: Evaluate) -> None:
    document = evaluate(CPP.format("int a = ;"))
    assert document["verdict"] == "compile_error"
    assert document["failed_stage"] == "compile"
    assert "kernel.cpp:3:" in document["reason"]
    assert "kernel.cpp:3:" in document["compile"]["log"]


def test_missing_extern_c_is_said(evaluate: Evaluate) -> None:
    source = "#include <cstdint>\nvoid kernel(const float* x, float* y, int64_t r, int64_t c) {}\n"
    document = evaluate(source)
    assert document["verdict"] == "compile_error"
    assert 'declare it extern "C"' in document["reason"]


def test_missing_compiler_is_not_the_submitters_fault(
    evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(toolchain, "find", lambda: None)
    document = evaluate(GOOD_CPP)
    assert (document["verdict"], document["reason"]) == ("internal_error", "This runner has no g++.")
    assert lacks_compiler(Language.CPP, detect()[0].facts)
    assert not lacks_compiler(Language.PYTHON, detect()[0].facts)


@pytest.mark.parametrize(
    ("source", "language", "verdict", "words"),
    [
        ("def other(x):\n    return x\n", "python", "refused", "defines no kernel"),
        ("// kernel\nint other;\n", "cpp", "refused", "defines no kernel"),
        ("def kernel(x:\n", "python", "compile_error", "kernel.py, line 1"),
        ("x = '\0'", "python", "compile_error", "null"),
    ],
)
def test_screen_stops_what_cannot_work(
    evaluate: Evaluate, source: str, language: str, verdict: str, words: str
) -> None:
    document = evaluate(source, language=language)
    assert document["verdict"] == verdict
    assert document["failed_stage"] == "screen"
    assert words in document["reason"]
    assert [stage["status"] for stage in document["stages"]] == ["failed", "skipped", "skipped"]


def test_nondeterministic_kernel_is_marked(evaluate: Evaluate) -> None:
    document = evaluate("import torch\n\ndef kernel(x):\n    return 2 * x + 1 + 1e-7 * torch.rand(())\n")
    assert document["verdict"] == "passed", document["reason"]
    assert not all(case["deterministic"] for case in document["tests"])
