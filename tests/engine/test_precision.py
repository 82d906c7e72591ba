"""A submission finds torch in full precision, whatever its defaults are, and so does the reference."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from runners.contract.parse import parse_task
from runners.harness.python_kernel import PythonKernel
from runners.supervisor.oracle import Oracle

_SOURCE = """
import torch

found = {
    "products": torch.get_float32_matmul_precision(),
    "tf32": torch.backends.cuda.matmul.allow_tf32,
    "convolutions": torch.backends.cudnn.allow_tf32,
    "fp16": torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction,
    "bf16": torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction,
    "search": torch.backends.cudnn.benchmark,
}


def kernel(x):
    return found


def reference(x):
    return x
"""
_STRICT = {
    "products": "highest",
    "tf32": False,
    "convolutions": False,
    "fp16": False,
    "bf16": False,
    "search": False,
}


def _be_coarse() -> None:
    torch.set_float32_matmul_precision("medium")
    torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = True
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = True


@pytest.fixture(autouse=True)
def coarse() -> Iterator[None]:
    _be_coarse()
    yield
    Oracle(_spec())


def _spec() -> Any:
    tensor = {"dtype": "float32", "shape": ["n"]}
    return parse_task(
        "same",
        {
            "languages": ["python"],
            "sizes": ["n"],
            "inputs": [{"name": "x", **tensor}],
            "outputs": [{"name": "y", **tensor}],
            "tolerance": {"float32": {"atol": 0.0, "rtol": 0.0}},
            "cost": {"bytes": "8 * n", "flops": "n", "dtype": "float32"},
            "cases": {"cpu": {"test": [{"n": 4}], "benchmark": [{"n": 4}]}},
        },
        "def reference(x):\n    return x\n",
    )


def _found() -> Any:
    scope: dict[str, Any] = {}
    exec(_SOURCE, scope)  # noqa: S102 - the text above
    return scope["found"]


def test_a_submission_is_imported_with_strict_settings() -> None:
    descriptor = os.memfd_create("submission")
    os.write(descriptor, _SOURCE.encode())
    os.lseek(descriptor, 0, os.SEEK_SET)

    kernel: Any = PythonKernel(descriptor)

    assert kernel._function(None) == _STRICT


def test_the_reference_runs_with_the_same_settings() -> None:
    assert _found() != _STRICT
    Oracle(_spec())

    assert _found() == _STRICT


def test_a_submission_may_choose_by_torchs_newer_settings_as_well() -> None:
    Oracle(_spec())
    torch.backends.cuda.matmul.fp32_precision = "tf32"
    torch.backends.cudnn.conv.fp32_precision = "tf32"  # type: ignore[attr-defined]

    x = torch.ones(4, 4)
    assert torch.equal(x @ x, 4 * x)
