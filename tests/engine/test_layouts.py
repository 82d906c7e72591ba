"""Inputs that are not dense: what lies where, and that Python kernels alone are given them."""

import pytest
import torch

from runners.contract.layout import span, strides
from runners.contract.spec import TaskSpec, TensorSpec
from runners.contract.vocabulary import Mode
from runners.supervisor.placed import Placed
from tests.engine.conftest import DOCUMENT, GOOD_CPP, GOOD_PYTHON, Evaluate, make_spec

#: Reads memory from the first element on, whatever the strides say.
BLIND = """\
import ctypes
import torch


def kernel(x):
    memory = (ctypes.c_float * x.numel()).from_address(x.data_ptr())
    return 2 * torch.frombuffer(memory, dtype=torch.float32).view(x.shape) + 1
"""


@pytest.mark.parametrize(
    ("dims", "layout", "expected", "elements"),
    [
        ((3, 5), "", (5, 1), 15),
        ((3, 5), "transposed", (1, 3), 15),
        ((3, 5), "padded", (8, 1), 21),
        ((3, 5), "stepped", (10, 2), 29),
        ((7,), "stepped", (2,), 13),
        ((7,), "transposed", (1,), 7),
        ((2, 3, 4), "transposed", (1, 2, 6), 24),
        ((2, 3, 4), "padded", (21, 7, 1), 39),
    ],
)
def test_strides_of_a_layout(
    dims: tuple[int, ...], layout: str, expected: tuple[int, ...], elements: int
) -> None:
    assert strides(dims, layout) == expected
    assert span(dims, expected) == elements


@pytest.mark.parametrize("layout", ["", "transposed", "padded", "stepped"])
def test_a_placed_tensor_shares_its_memory(layout: str) -> None:
    placed = Placed.of(TensorSpec("x", "int32", ("n", "3")), {"n": 4}, layout)
    memory = torch.zeros(placed.nbytes, dtype=torch.uint8)
    shown = placed.show(memory)
    shown.copy_(torch.arange(12, dtype=torch.int32).view(4, 3) + 1)
    assert shown.shape == (4, 3)
    assert shown.is_contiguous() == (layout == "")
    assert int((memory.view(torch.int32) != 0).sum()) == 12, "no two elements lie in one place"


@pytest.fixture(scope="module")
def strided() -> TaskSpec:
    tests = [{"rows": 3, "cols": 5}, {"rows": 7, "cols": 33, "layouts": {"x": "transposed"}}]
    cases = {"cpu": {**DOCUMENT["cases"]["cpu"], "test": [*tests, {"rows": 1, "cols": 1}]}}
    return make_spec(
        cases=cases, hidden={"strided": ["x"], "sizes": {"cpu": {"cols": {"from": 2, "to": 40}}}}
    )


@pytest.mark.sandbox
def test_a_kernel_that_ignores_strides_is_wrong_where_there_are_some(
    evaluate: Evaluate, strided: TaskSpec
) -> None:
    document = evaluate(BLIND, spec=strided)
    assert [case["status"] for case in document["tests"]] == ["passed", "failed", "passed"]
    assert "x:transposed" in document["tests"][1]["description"]


@pytest.mark.sandbox
def test_one_that_follows_them_passes_hidden_views_too(evaluate: Evaluate, strided: TaskSpec) -> None:
    document = evaluate(GOOD_PYTHON, Mode.RANKED, spec=strided)
    assert document["verdict"] == "passed", document["reason"]
    assert len([case for case in document["tests"] if case["hidden"]]) == 3


@pytest.mark.sandbox
def test_c_always_gets_dense_memory(evaluate: Evaluate, strided: TaskSpec) -> None:
    document = evaluate(GOOD_CPP, spec=strided)
    assert document["verdict"] == "passed", document["reason"]
    assert document["tests"][1]["description"] == "rows=7 cols=33"
