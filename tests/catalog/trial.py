"""A small evaluator for catalogue tests: inputs, float64 oracle, comparison, and submissions run in-process.

Ours alone are loaded: it has neither a sandbox nor a clock. ``test_fixtures.py`` runs the real engine.
"""

import ctypes
import hashlib
import importlib.util
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from runners.contract.budget import FLOAT32_ROUNDING, ROUNDING, UNDERFLOW
from runners.contract.expressions import evaluate
from runners.contract.layout import span, strides
from runners.contract.spec import Case, TaskSpec, TensorSpec
from runners.contract.vocabulary import Language

Outputs = tuple[torch.Tensor, ...]
Kernel = Callable[..., Any]


def dtype_of(name: str) -> torch.dtype:
    dtype = getattr(torch, name)
    assert isinstance(dtype, torch.dtype)
    return dtype


def inputs_of(spec: TaskSpec, case: Case, seed: int = 0) -> Outputs:
    """The case's inputs, the same for the same spec, case and seed."""
    text = f"{spec.digest} {case.name} {seed}"
    generator = torch.Generator().manual_seed(int(hashlib.sha256(text.encode()).hexdigest()[:15], 16))
    return tuple(_fill(tensor, case, generator) for tensor in spec.inputs)


def _fill(tensor: TensorSpec, case: Case, generator: torch.Generator) -> torch.Tensor:
    shape = tensor.dims(case.sizes)
    fill = case.fills.get(tensor.name, tensor.fill)
    if "int" in tensor.dtype:
        low, high = evaluate(tensor.low, case.sizes), evaluate(tensor.high, case.sizes)
        if fill == "zeros":
            values = torch.full(shape, low)
        elif fill == "constant":
            values = torch.randint(low, high, (1,), generator=generator).expand(shape)
        else:
            values = torch.randint(low, high, shape, generator=generator)
        return values.to(dtype_of(tensor.dtype)).contiguous()
    normal = torch.randn(shape, generator=generator, dtype=torch.float64)
    if fill == "uniform":
        normal = torch.rand(shape, generator=generator, dtype=torch.float64)
    elif fill == "large":
        normal = normal * 1e3
    elif fill == "constant":
        normal = torch.randn((1,), generator=generator, dtype=torch.float64).expand(shape)
    elif fill == "heavy":
        normal = (normal / torch.randn(shape, generator=generator, dtype=torch.float64)).clamp(-1e4, 1e4)
    elif fill == "zeros":
        normal = torch.where(normal > 0, 0.0, -0.0)
    elif fill == "denormal":
        normal = normal * 1e-40
    scaled = normal if fill == "denormal" else normal * tensor.scale
    return scaled.to(dtype_of(tensor.dtype)).contiguous()


def reference_of(spec: TaskSpec) -> Kernel:
    return _function(spec.reference, "reference")


def _function(source: str, name: str) -> Kernel:
    names: dict[str, Any] = {}
    exec(compile(source, f"{name}.py", "exec"), names)  # noqa: S102 - our own file
    function = names[name]
    assert callable(function)
    return function  # type: ignore[no-any-return]


def apply(function: Kernel, inputs: Outputs) -> Outputs:
    result = function(*inputs)
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def in_dtype(inputs: Outputs, dtype: torch.dtype) -> Outputs:
    return tuple(item.to(dtype) if item.is_floating_point() else item for item in inputs)


def oracle(spec: TaskSpec, inputs: Outputs) -> Outputs:
    """The reference on float64 copies of the inputs, which are exact."""
    return apply(reference_of(spec), in_dtype(inputs, torch.float64))


@dataclass(frozen=True)
class Wanted:
    """The right outputs, and what an element of each may be off: in all of its limits at once."""

    outputs: Outputs
    limits: tuple[tuple[torch.Tensor, ...], ...]


def wanted(spec: TaskSpec, case: Case, inputs: Outputs) -> Wanted:
    """By the oracle, the task's tolerance and its error budgets."""
    outputs = oracle(spec, inputs)
    conditions: Outputs = ()
    if spec.budgets:
        conditions = apply(_function(spec.condition, "condition"), in_dtype(inputs, torch.float64))
    fills = {case.fills.get(tensor.name, tensor.fill) for tensor in spec.inputs}
    limits = []
    for index, (tensor, right) in enumerate(zip(spec.outputs, outputs, strict=True)):
        tolerance, budget = spec.tolerances[tensor.dtype], spec.budgets.get(tensor.name)
        mine = []
        if budget is None or not fills & set(budget.alone):
            mine.append(tolerance.atol + tolerance.rtol * right.abs())
        if budget is not None:
            roundings = evaluate(budget.units, case.sizes) * FLOAT32_ROUNDING
            own = ROUNDING[tensor.dtype] * right.abs() + UNDERFLOW[tensor.dtype]
            mine.append(roundings * conditions[index].reshape(right.shape) + own)
        limits.append(tuple(mine))
    return Wanted(outputs, tuple(limits))


def excess(spec: TaskSpec, got: Outputs, want: Wanted) -> float:
    """The largest error in multiples of what is allowed; at most 1 passes. Infinite on wrong shape or NaN."""
    if len(got) != len(spec.outputs):
        return float("inf")
    worst = 0.0
    for tensor, left, right, limits in zip(spec.outputs, got, want.outputs, want.limits, strict=True):
        if left.shape != right.shape or left.dtype != dtype_of(tensor.dtype):
            return float("inf")
        if "int" in tensor.dtype:
            worst = worst if torch.equal(left.long(), right.long()) else float("inf")
            continue
        left = left.to(torch.float64)
        for allowed in limits:
            error = torch.where(left == right, 0.0, (left - right).abs() / allowed)
            error = torch.where(left.isnan() & right.isnan(), 0.0, error)
            peak = float(error.nan_to_num(nan=float("inf"), posinf=float("inf")).max())
            worst = max(worst, peak)
    return worst


def empty_outputs(spec: TaskSpec, sizes: Mapping[str, int], device: str = "cpu") -> Outputs:
    """Poisoned outputs: NaN, or the byte 0xA5 in every place of an integer."""
    outputs = []
    for tensor in spec.outputs:
        dtype = dtype_of(tensor.dtype)
        shape = tensor.dims(sizes)
        if dtype.is_floating_point:
            outputs.append(torch.full(shape, float("nan"), dtype=dtype, device=device))
        else:
            raw = torch.full((tensor.nbytes(sizes),), 0xA5, dtype=torch.uint8, device=device)
            outputs.append(raw.view(dtype).reshape(shape))
    return tuple(outputs)


#: g++ has the engine's flags; warnings are errors, since these files are examples.
COMPILERS = {
    Language.CPP: [
        "g++",
        "-O3",
        "-march=native",
        "-std=c++20",
        "-fopenmp",
        "-shared",
        "-fPIC",
        "-Wall",
        "-Werror",
    ],
    Language.CUDA: ["nvcc", "-O3", "-arch=native", "-std=c++17", "-shared", "-Xcompiler", "-fPIC"],
}


def compile_source(language: Language, source: Path, folder: Path) -> ctypes.CDLL:
    """The shared library of a C++ or CUDA file, built into ``folder``."""
    target = folder / f"{hashlib.sha256(source.read_bytes()).hexdigest()}.so"
    if not target.exists():
        subprocess.run([*COMPILERS[language], "-o", str(target), str(source)], check=True)
    return ctypes.CDLL(str(target))


def load(language: Language, path: Path, folder: Path) -> Callable[[TaskSpec, Case, Outputs], Outputs]:
    """A function running the submission at ``path`` on the inputs of a case, on the device these are on."""
    if language in COMPILERS:
        library = compile_source(language, path, folder)
        return lambda spec, case, inputs: _call_c(library, spec, case, inputs)
    # A module of a real file: Triton reads the source of its functions from there.
    found = importlib.util.spec_from_file_location(f"submission_{path.stem}", path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    function = module.kernel
    return lambda spec, case, inputs: _call_python(function, spec, case, inputs)


def laid_out(spec: TaskSpec, case: Case, inputs: Outputs) -> Outputs:
    """The same values, each input lying in memory as the case says."""
    shown = []
    for tensor, values in zip(spec.inputs, inputs, strict=True):
        steps = strides(values.shape, case.layouts.get(tensor.name, ""))
        memory = values.new_zeros(span(values.shape, steps))
        shown.append(memory.as_strided(values.shape, steps).copy_(values))
    return tuple(shown)


def _call_python(function: Kernel, spec: TaskSpec, case: Case, inputs: Outputs) -> Outputs:
    inputs = laid_out(spec, case, inputs)
    if "out" in function.__code__.co_varnames[: function.__code__.co_argcount]:
        outputs = empty_outputs(spec, case.sizes, inputs[0].device.type)
        function(*inputs, out=outputs if len(outputs) > 1 else outputs[0])
        return outputs
    return apply(function, inputs)


def _call_c(library: ctypes.CDLL, spec: TaskSpec, case: Case, inputs: Outputs) -> Outputs:
    on_cuda = inputs[0].is_cuda
    outputs = empty_outputs(spec, case.sizes, inputs[0].device.type)
    pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in (*inputs, *outputs)]
    sizes = [ctypes.c_int64(case.sizes[name]) for name in spec.sizes]
    stream = [ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)] if on_cuda else []
    library.kernel.restype = None
    library.kernel(*pointers, *sizes, *stream)
    if on_cuda:
        torch.cuda.synchronize()
    return outputs
