"""Calls a submission on made-up inputs, once to warm up and once between the profiler's marks.

Run as a file of its own, under a profiler, in a folder that holds ``case.json`` and the submission. Like all
of the harness it shares a process with the submission, so nothing it does can be relied on.
"""

import ctypes
import importlib.util
import inspect
import json
from typing import Any

import torch


def main() -> None:
    with open("case.json") as file:
        case: dict[str, Any] = json.load(file)
    inputs = [_made_up(tensor, case["device"]) for tensor in case["inputs"]]
    call = _python(case, inputs) if case["kind"] == "python" else _library(case, inputs)
    call()
    if case["device"] == "cuda":
        torch.cuda.synchronize()
        runtime: Any = torch.cuda.cudart()  # type: ignore[no-untyped-call]
        runtime.cudaProfilerStart()
        call()
        torch.cuda.synchronize()
        runtime.cudaProfilerStop()
    else:
        call()


def _made_up(tensor: dict[str, Any], device: str) -> torch.Tensor:
    dtype = getattr(torch, tensor["dtype"])
    if dtype.is_floating_point:
        return torch.randn(tensor["dims"], device=device).to(dtype)
    above = max(tensor["low"] + 1, tensor["high"])
    return torch.randint(tensor["low"], above, tensor["dims"], device=device).to(dtype)


def _places(case: dict[str, Any]) -> list[torch.Tensor]:
    return [
        torch.empty(tensor["dims"], dtype=getattr(torch, tensor["dtype"]), device=case["device"])
        for tensor in case["outputs"]
    ]


def _python(case: dict[str, Any], inputs: list[torch.Tensor]) -> Any:
    spec = importlib.util.spec_from_file_location("kernel", "kernel.py")
    assert spec is not None  # noqa: S101 - a path ending in .py always has a loader
    assert spec.loader is not None  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if "out" not in inspect.signature(module.kernel).parameters:
        return lambda: module.kernel(*inputs)
    places = _places(case)
    out = places[0] if len(places) == 1 else tuple(places)
    return lambda: module.kernel(*inputs, out=out)


def _library(case: dict[str, Any], inputs: list[torch.Tensor]) -> Any:
    outputs = _places(case)
    function = ctypes.CDLL("./kernel.so").kernel
    function.restype = None
    pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in (*inputs, *outputs)]
    sizes = [ctypes.c_int64(size) for size in case["sizes"]]
    stream = [ctypes.c_void_p(0)] if case["device"] == "cuda" else []
    return lambda: function(*pointers, *sizes, *stream)


if __name__ == "__main__":
    main()
