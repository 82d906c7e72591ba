"""Whose kernels a submission ran: a library's, or its own. Pure.

The names of what ran come from a profiler inside the submission's process, which can make it say anything;
those of a compiled source from its compiler, which lists what may run. So they classify and are shown;
nothing is refused or ranked by them.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

from runners.contract.result import CompileReport, Finding, Launch
from runners.contract.vocabulary import DeviceKind, Work

MOST_LAUNCHES = 80
LONGEST_NAME = 160

#: Kernels of libraries by the names that profilers show, those that torch.compile generates among them.
_LIBRARY_KERNEL = re.compile(
    r"\b(at|c10|at_cuda_detail|cub|thrust|cutlass|cutlass_80|flash|pytorch_flash|fmha|cudnn|cublasLt)::"
    r"|^(void )?(cublas|cudnn|cufft|curand|cusparse|nccl|nvjet|xmma|fmha_|cutlass_|sm\d\d+_xmma"
    r"|(maxwell|volta|turing|ampere|hopper|blackwell)_[a-z0-9]*(gemm|cudnn|conv|fft)"
    r"|splitKreduce_kernel|gemv2[TN]_kernel|gemvNSP_kernel|gemmk1_kernel|reduce_1Block_kernel"
    r"|triton_(poi|red|per|tem|mm|for|unk)_)"
)
#: Work that says nothing of who computes: moving and filling memory, the harness's own copy among it, and the
#: empty kernel that cub's headers bring whoever includes them.
_PLAIN_KERNEL = re.compile(
    r"^(Memcpy|Memset)\b|FillFunctor|direct_copy_kernel|^(void )?cub::[\w:]*EmptyKernel<"
)
_PLAIN_OPERATORS = frozenset(
    {"empty", "empty_like", "empty_strided", "new_empty", "new_zeros", "zeros", "zeros_like", "zero_"}
    | {"ones", "ones_like", "full", "full_like", "fill_", "arange", "scalar_tensor", "lift_fresh"}
    | {"as_strided", "view", "_unsafe_view", "_reshape_alias", "reshape", "t", "transpose", "permute"}
    | {"expand", "slice", "select", "narrow", "unsqueeze", "squeeze", "detach", "detach_", "alias"}
    | {"unbind", "split", "chunk", "copy_", "_to_copy", "to", "contiguous", "clone", "item", "set_"}
    | {"_local_scalar_dense", "is_nonzero", "resolve_conj", "resolve_neg", "resize_", "flatten"}
)
_COMPILED = ("Torch-Compiled Region", "## Call CompiledFxGraph")


def told_launches(answer: Any) -> list[Launch]:
    """What a child's answer says it launched, as ``Launch`` entries; whatever is malformed is left out."""
    if not isinstance(answer, list):
        return []
    found: list[Launch] = []
    for item in answer[:MOST_LAUNCHES]:
        if not isinstance(item, Mapping):
            continue
        name, calls, seconds = item.get("name"), item.get("calls"), item.get("seconds")
        if not isinstance(name, str) or not _plausible(calls) or not _plausible(seconds):
            continue
        on_device = item.get("on_device") is True
        found.append(
            {
                "name": name[:LONGEST_NAME],
                "calls": int(calls),
                "seconds": float(seconds),
                "on_device": on_device,
                "library": is_library_kernel(name) if on_device else is_library_operator(name),
            }
        )
    return found


def compiled_launches(report: CompileReport | None) -> list[Launch]:
    """The device functions of a compiled submission, a library's where a header brought them: cub, thrust and
    CUTLASS are compiled with the source. Without ``calls``, as nobody saw them run.
    """
    names = [str(item.get("name", "")) for item in (report.get("functions", []) if report else [])]
    found: list[Launch] = [
        {"name": name[:LONGEST_NAME], "on_device": True, "library": is_library_kernel(name)} for name in names
    ]
    # A library's first, or a source of many functions would hide it behind the bound.
    return sorted(found, key=lambda launch: not launch["library"])[:MOST_LAUNCHES]


def work_of(kind: DeviceKind, launches: Sequence[Launch], findings: Iterable[Finding], *, seen: bool) -> str:
    """``own`` when no library's kernel ran, ``library`` when one did, be it among own ones; empty when nobody
    knows.

    ``seen`` says that ``launches`` is what ran or all that can run, not merely what could be learned. Where
    kernels were seen to run on the device they decide; elsewhere names and the source's text do: no compiler
    lists what a source calls in a shared library.
    """
    kernels = [launch for launch in launches if launch["on_device"] and "calls" in launch]
    if kind == DeviceKind.CUDA and kernels:
        return Work.LIBRARY if any(launch["library"] for launch in kernels) else Work.OWN
    if any(launch["library"] for launch in launches):
        return Work.LIBRARY
    if any(finding["rule"] == "library_call" for finding in findings):
        return Work.LIBRARY
    return Work.OWN if seen else ""


def is_library_kernel(name: str) -> bool:
    """Whether a kernel on a GPU has a library's name."""
    return bool(_LIBRARY_KERNEL.search(name)) and not _PLAIN_KERNEL.search(name)


def is_library_operator(name: str) -> bool:
    """Whether an operator as torch's profiler names it computes, and is torch's."""
    if name.startswith(_COMPILED):
        return True
    space, _, operator = name.partition("::")
    return space == "aten" and operator not in _PLAIN_OPERATORS


def _plausible(value: Any) -> TypeGuard[float]:
    return type(value) in (int, float) and 0 <= value < 2**53
