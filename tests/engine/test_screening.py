"""What the text of a Python submission is said to show; nothing of it refuses."""

import pytest

from runners.backends.python.backend import PythonBackend
from tests.engine.conftest import make_spec

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
