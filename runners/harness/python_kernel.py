"""Calling a Python module that defines ``kernel(*inputs)``."""

import importlib.util
import inspect
import os
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import torch

from runners.harness.memory import Mapped
from runners.harness.precision import be_strict


class ContractError(Exception):
    """What the function returned breaks the entry point's contract; the message says how."""


def views(case: dict[str, Any], role: str, arena: Mapped, slot: int) -> list[torch.Tensor]:
    """The tensors of one slot, sharing its memory."""
    tensors = []
    for tensor in case[role]:
        flat = arena.bytes_at(slot * arena.stride + tensor["offset"], tensor["bytes"])
        elements = flat.view(getattr(torch, tensor["dtype"]))
        # By default as_strided starts where the memory does, which need not be where these elements do.
        start = elements.storage_offset()
        tensors.append(elements.as_strided(tensor["dims"], tensor["strides"], start))
    return tensors


class PythonKernel:
    def __init__(self, source: int) -> None:
        """Imports the module whose text the descriptor ``source`` holds. It finds torch in full precision."""
        be_strict()
        with os.fdopen(source, "rb") as stream:
            text = stream.read()
        # A real file: inspect, Triton and tracebacks look the source up by its name.
        path = os.path.join(tempfile.gettempdir(), "kernel.py")
        with open(path, "wb") as file:
            file.write(text)
        spec = importlib.util.spec_from_file_location("kernel", path)
        assert spec is not None  # noqa: S101 - a path ending in .py always has a loader
        assert spec.loader is not None  # noqa: S101
        module = importlib.util.module_from_spec(spec)
        sys.modules["kernel"] = module
        spec.loader.exec_module(module)
        self._function = getattr(module, "kernel", None)
        if not callable(self._function):
            raise ContractError("kernel.py defines no function named kernel")
        self.takes_out = _takes_out(self._function)

    def bind(self, case: dict[str, Any], inputs: Mapped, outputs: Mapped, slot: int) -> Callable[[], None]:
        given = views(case, "inputs", inputs, slot)
        places = views(case, "outputs", outputs, slot)
        function: Any = self._function
        if self.takes_out:
            out = places[0] if len(places) == 1 else tuple(places)

            def call_into() -> None:
                function(*given, out=out)

            return call_into

        def call() -> None:
            result = function(*given)
            _store([result] if isinstance(result, torch.Tensor) else result, places, case["outputs"])

        return call


def _takes_out(function: Callable[..., Any]) -> bool:
    try:
        return "out" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _store(results: Any, places: list[torch.Tensor], specs: list[dict[str, Any]]) -> None:
    """Copies what was returned into the output slots, after checking that it is what the task asks for."""
    if not isinstance(results, (tuple, list)):
        raise ContractError(
            f"kernel returned {type(results).__name__} instead of a tensor or a tuple of them"
        )
    if len(results) != len(places):
        raise ContractError(f"kernel returned {len(results)} tensors instead of {len(places)}")
    for result, place, spec in zip(results, places, specs, strict=True):
        name = spec["name"]
        if type(result) is not torch.Tensor:
            raise ContractError(f"output {name}: {type(result).__name__} instead of a plain torch.Tensor")
        if result.shape != place.shape:
            raise ContractError(f"output {name}: shape {tuple(result.shape)} instead of {tuple(place.shape)}")
        if result.dtype != place.dtype:
            raise ContractError(f"output {name}: dtype {result.dtype} instead of {place.dtype}")
        if result.device != place.device:
            raise ContractError(f"output {name}: on {result.device} instead of {place.device}")
        place.copy_(result)
