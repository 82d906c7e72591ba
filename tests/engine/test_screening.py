"""What the text of a Python submission is said to show; nothing of it refuses."""

import time

import pytest

from runners.backends.cpp.backend import CppBackend
from runners.backends.cpp.screening import hidden_hits, hits, own_lines
from runners.backends.python.backend import PythonBackend
from runners.contract.reading import SpecError
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import Mode
from tests.engine.conftest import GOOD_CPP, Evaluate, make_spec

REFERENCE = "def reference(x):\n    return x\n"

SOFTMAX = make_spec(
    "import torch\n\n\ndef reference(x):\n    return torch.special.entr(torch.softmax(x, 1))\n"
)


def rules(source: str) -> list[tuple[str, int]]:
    findings = PythonBackend().screen(source + "\n\n\ndef kernel(x):\n    return x\n", SOFTMAX)
    assert not any(finding["refuses"] for finding in findings)
    return [(finding["rule"], finding["line"]) for finding in findings]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import torch\ny = torch.softmax(torch.ones(2), 0)", [("library_call", 2)]),
        ("y = x.matmul(z)", [("library_call", 1)]),
        ("import torch\ny = torch.special.entr(x)", [("library_call", 2)]),  # the reference calls it
        (
            "try:\n    y = own(x)\nexcept Exception:\n    y = x.softmax(0)",
            [("exception_fallback", 3), ("library_call", 4)],
        ),
        ("class ModelNew(Model):\n    pass", [("inherited_reference", 1)]),
        ("from reference import reference", [("inherited_reference", 1)]),
        ("import time\ntime.perf_counter = lambda: 0", [("timer_patch", 2)]),
        ("import threading", [("thread_use", 1)]),
        ("import os\nos.fork()", [("thread_use", 2)]),
        ("import torch\ns = torch.cuda.Stream()", [("stream_use", 2)]),
        ("import sys\nsys._getframe()", [("harness_access", 2)]),
        ("exec('x = 1')", [("run_time_code", 1)]),
        ("from torch import softmax as own\ny = own(x, 0)", [("library_call", 2)]),
        ("import torch.nn.functional as F\ny = F.softmax(x, 0)", [("library_call", 2)]),
        ("import torch\ny = getattr(torch, 'softmax')(x, 0)", [("library_call", 2)]),
        ("import torch\ny = torch.ops.aten.mm.default(x, x)", [("library_call", 2)]),
        ("import torch\nown = torch.compile(lambda x: x)", [("library_call", 2)]),
        ("import torch\nlayer = torch.nn.Linear(3, 3)", [("library_call", 2)]),
        ("import numpy as np\ny = np.exp(x)", [("library_call", 2)]),
        ("y = x @ x", [("library_call", 1)]),
        ("import time as clock\nclock.perf_counter = int", [("timer_patch", 2)]),
        ("import torch\nsetattr(torch.cuda, 'synchronize', int)", [("timer_patch", 2)]),
        ("import torch\ng = torch.cuda.CUDAGraph()", [("graph_use", 2)]),
        ("import torch as th\nwith th.cuda.stream(s):\n    pass", [("stream_use", 2)]),
        ("import subprocess", [("thread_use", 1)]),
        (
            "text = '''\n#include <thread>\nvoid f() { std::thread(g); }\n'''",
            [("thread_use", 3)],
        ),
    ],
)
def test_rule_and_line(source: str, found: list[tuple[str, int]]) -> None:
    assert rules(source) == found


@pytest.mark.parametrize(
    "source",
    [
        "import triton.language as tl\n\n\ndef own(x):\n    return tl.sum(x) + tl.sort(x)",
        "try:\n    import numpy\nexcept ImportError:\n    numpy = None",
        "import time\nstart = time.perf_counter()",
        "class Model(Base):\n    pass",
        "import torch\ny = torch.empty_like(x).view(-1)",
        "import numpy as np\nsize = np.prod([2, 3])",
        "import re\npattern = re.compile('x')",
        "import triton.language as tl\n\n\ndef own(x):\n    return tl.dot(x, x)",
        "text = '''Sorts; see {this}:\nnothing.'''",
        "# torch.softmax, threading, exec\ntext = 'exec(1)'",
    ],
)
def test_honest_text_shows_nothing(source: str) -> None:
    assert rules(source) == []


def test_a_long_chain_of_attributes_is_followed() -> None:
    """The parser takes it, so that it must not end as a fault of ours."""
    assert rules("x" + ".a" * 1500 + ".softmax()") == [("library_call", 1)]


def test_a_source_of_nothing_but_findings_does_not_fill_the_result() -> None:
    assert rules("x.softmax()\n" * 5000) == [("library_call", line) for line in range(1, 201)]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("cublasSgemm(handle);", [(1, "library_call")]),
        ("cub::DeviceReduce::Sum(a, b);", [(1, "library_call")]),
        ("auto y = at::softmax(x, 0);", [(1, "library_call")]),
        ("sgemm_(a);", [(1, "library_call")]),
        ('dlopen("libcublas.so.12", 1);', [(1, "harness_access"), (1, "library_call")]),
        (
            "try { own(); }\ncatch (...) { torch::mm(a, b); }",
            [(2, "exception_fallback"), (2, "library_call")],
        ),
        ("#include <thread>\nstd::thread([] {}).detach();", [(2, "thread_use")]),
        ("pthread_create(&t, 0, f, 0);", [(1, "thread_use")]),
        ("cudaStreamCreateWithFlags(&s, 1);", [(1, "stream_use")]),
        ("cudaGraphLaunch(g, s);", [(1, "graph_use")]),
        ('dlsym(h, "cuEventElapsedTime");', [(1, "harness_access"), (1, "timer_patch")]),
        ("int clock_gettime(int, void*) { return 0; }", [(1, "timer_patch")]),
        (
            'extern "C" cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = at(0))\n{}',
            [(1, "timer_patch")],
        ),
        ("int gettimeofday(timeval*, void*) noexcept /* { */ { return 0; }", [(1, "timer_patch")]),
        ("auto cuEventRecord(CUevent, CUstream) -> CUresult <% return {}; %>", [(1, "timer_patch")]),
        ("int (clock_gettime)(int, timespec*) { return 0; }", [(1, "timer_patch")]),
        ("#define cudaEventRecord mine", [(1, "timer_patch")]),
        ("int clock_gettime(int, timespec*)\n    [[gnu::cold]] { return 0; }", [(1, "timer_patch")]),
        ("# define cudaEventRecord(event, ...) cudaSuccess", [(1, "timer_patch")]),
        ("int clock_gettime(int, timespec*) [ [gnu::cold] ] { return 0; }", [(1, "timer_patch")]),
        ("int clock_gettime(int, timespec*) <:<: gnu::cold :>:> { return 0; }", [(1, "timer_patch")]),
        ('auto x = R"x(" /* )x";\nint clock_gettime(int, timespec*) { return 0; }', [(2, "timer_patch")]),
        ('auto x = R"(")"; int gettimeofday(timeval*, void*) {} auto y = R"(")";', [(1, "timer_patch")]),
        ('int clock_gettime(int, timespec*) __attribute__((alias("mine")));', [(1, "timer_patch")]),
        ('[[gnu::alias("mine")]] int clock_gettime(int, timespec*);', [(1, "timer_patch")]),
        ('int mine() asm("cudaEventRecord");', [(1, "timer_patch")]),
        ("patch(&clock_gettime);", [(1, "timer_patch")]),
        ('dlsym(h, "cudaEventRecord");', [(1, "harness_access"), (1, "timer_patch")]),
        (
            "void f() {\n    cudaEventRecord(e, s);\n}\nint cudaEventRecord(E e, S s) { return 0; }",
            [(4, "timer_patch")],
        ),
        ('open("/proc/self/mem", 2);', [(1, "harness_access")]),
        ("cuModuleLoadData(&m, text);", [(1, "run_time_code")]),
    ],
)
def test_rule_and_line_of_c(source: str, found: list[tuple[int, str]]) -> None:
    assert sorted((line, rule) for line, rule, _ in hits(source)) == found


@pytest.mark.parametrize(
    "source",
    [
        "// cublasSgemm, std::thread\n/* dlsym */ int cublas = 0;",
        "float fork = 1; auto y = x.clone();",
        "__shared__ typename cub::BlockReduce<float, 256>::TempStorage space;",
        "#pragma omp parallel for\nfor (int i = 0; i < n; ++i) y[i] = x[i];",
        'puts("uses a thread, a stream and cublas");',
        "std::sort(begin, end);",
        "cudaEventRecord(fork, stream);\ncudaStreamWaitEvent(second, fork, 0);",
        "#define CHECK(x) if ((x) != cudaSuccess) { abort(); }\nCHECK(cudaEventRecord(fork, stream)) {}",
        "#define JOIN(e) cudaEventRecord(e, stream)\nvoid f() { JOIN(e); }",
        "if (cudaEventRecord(fork, stream) != cudaSuccess) { return; } else cudaEventRecord(fork, 0);",
        'if (auto e = ::cudaEventElapsedTime(&ms, a, b)) { puts(") {"); }',
        "int r{clock_gettime(CLOCK_MONOTONIC, &now)};\nwhile (gettimeofday(&then, nullptr)) {}",
        'extern "C" int clock_gettime(int, timespec*);',
        "#define JOIN cudaEventRecord(e, s)\n[[nodiscard]] int f();",
        "#define JOIN(e) \\\n    cudaEventRecord(e, stream)\n\n[[nodiscard]] int f();",
        "int alias = 0, r = cudaEventRecord(e, s);",
        "cudaEventRecord(a, (cudaStream_t)cudaEventRecord(b, s)), sort([] { return 1; });",
    ],
)
def test_honest_c_shows_nothing(source: str) -> None:
    assert list(hits(source)) == []


PASTED = "#define GLUE(a, b) a##b\nvoid* x = GLUE(dl, sym)(0, 0);\n"
PREPROCESSED = b"""# 0 "kernel.cpp"
# 1 "/usr/include/dlfcn.h" 1
void* dlsym(void*, const char*);
# 1 "kernel.cpp" 2

void* x = dlsym(0, 0);
"""


def test_names_pasted_from_pieces_are_seen_in_the_preprocessed_text() -> None:
    assert list(hits(PASTED)) == []
    assert hidden_hits(PASTED, PREPROCESSED, "kernel.cpp") == [(2, "harness_access", "dlsym")]
    assert hidden_hits("\ndlsym(0, 0);", PREPROCESSED, "kernel.cpp") == []  # seen before


def test_calls_of_a_timer_that_never_end_are_looked_at_once() -> None:
    for piece in ("cudaEventRecord(", "cudaEventRecord() /*", 'cudaEventRecord("', "cudaEventRecord()\n"):
        start = time.monotonic()
        assert list(hits(piece * (2**18 // len(piece)))) == []
        assert time.monotonic() - start < 5, piece


def test_a_line_directive_that_claims_any_number_costs_nothing() -> None:
    assert own_lines('# 4000000000 "kernel.cpp"\nint x;\n', "kernel.cpp") == ""


def test_a_task_may_forbid_a_rule() -> None:
    strict = make_spec("def reference(x):\n    return x\n", forbids=["thread_use"])
    source = "def kernel(x):\n    import threading\n    return x.matmul(x)\n"
    found = {finding["rule"]: finding for finding in PythonBackend().screen(source, strict)}
    assert found["thread_use"]["refuses"]
    assert "the task double forbids that (thread_use)" in found["thread_use"]["message"]
    assert not found["library_call"]["refuses"]
    (refused,) = CppBackend().screen("void kernel() { fork(); }", strict)
    assert (refused["rule"], refused["line"], refused["refuses"]) == ("thread_use", 1, True)


def test_what_a_task_forbids_is_part_of_its_digest_and_nothing_else_is() -> None:
    plain, strict = make_spec(REFERENCE), make_spec(REFERENCE, forbids=["thread_use"])
    assert "forbids" not in plain.to_document()
    assert plain.digest != strict.digest
    assert TaskSpec.from_document(strict.to_document()) == strict
    with pytest.raises(SpecError, match="forbids: 'fun' is not one of library_call, "):
        make_spec(REFERENCE, forbids=["fun"])


@pytest.mark.sandbox
def test_the_compiled_text_is_screened_and_may_refuse(evaluate: Evaluate) -> None:
    """Twice: from the compiler, and from what was kept of its work."""
    source = f"#include <dlfcn.h>\n{PASTED}{GOOD_CPP}"
    strict = make_spec(forbids=["harness_access"])
    for _ in range(2):
        document = evaluate(source, Mode.TEST, spec=strict)
        assert document["verdict"] == "refused"
        assert document["failed_stage"] == "compile"
        assert document["reason"].startswith("kernel.cpp, line 3: looks around with dlsym; the task double")
    assert document["compile"]["cached"]
    assert [finding["rule"] for finding in document["findings"]] == ["harness_access"]
