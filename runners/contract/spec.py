"""TaskSpec: the frozen, content-addressed contract of one task version."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from runners.contract.budget import Budget
from runners.contract.draws import Draws
from runners.contract.expressions import evaluate
from runners.contract.vocabulary import CaseRole, DeviceKind, Language

#: Bytes per element of every dtype a tensor may have.
ITEM_SIZE = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "int64": 8,
    "int32": 4,
    "uint8": 1,
}
#: The C type of one element. C++20 has no 16-bit floats, so they travel as raw bits on the CPU.
C_TYPE = {
    "float64": "double",
    "float32": "float",
    "float16": "uint16_t",
    "bfloat16": "uint16_t",
    "int64": "int64_t",
    "int32": "int32_t",
    "uint8": "uint8_t",
}
CUDA_TYPE = {**C_TYPE, "float16": "__half", "bfloat16": "__nv_bfloat16"}

#: How an input can be filled. ``integers`` needs ``low`` and ``high``.
FILLS = ("normal", "uniform", "large", "constant", "heavy", "zeros", "denormal", "integers")


@dataclass(frozen=True)
class TensorSpec:
    """One input or output. ``shape`` holds expressions over the sizes, one per axis, row-major and dense."""

    name: str
    dtype: str
    shape: tuple[str, ...]
    fill: str = "normal"
    low: str = "0"  # for integers: smallest value
    high: str = "2"  # for integers: one past the largest value; both are expressions over the sizes
    scale: float = 1.0  # multiplies floating fills, so that long sums stay in range

    def dims(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        return tuple(evaluate(axis, sizes) for axis in self.shape)

    def nbytes(self, sizes: Mapping[str, int]) -> int:
        total = ITEM_SIZE[self.dtype]
        for axis in self.dims(sizes):
            total *= axis
        return total


@dataclass(frozen=True)
class Case:
    """One setting of sizes and distributions. Test cases are checked, benchmark cases checked and timed."""

    name: str  # unique within the spec, e.g. "cpu-bench-4096x4096"
    role: CaseRole
    device_kind: DeviceKind
    sizes: Mapping[str, int]
    fills: Mapping[str, str]  # input name → fill, overriding the input's own
    fits_in_cache: str = ""  # why a benchmark case may be smaller than the last-level cache
    #: Input → layout (layout.py) in which Python kernels are given it; everything else is dense
    layouts: Mapping[str, str] = field(default_factory=dict)

    def describe(self) -> str:
        """``rows=4096 cols=1000``, with overridden fills and layouts behind."""
        words = [f"{name}={value}" for name, value in self.sizes.items()]
        words += [f"{name}:{word}" for name, word in (*self.fills.items(), *self.layouts.items())]
        return " ".join(words)


@dataclass(frozen=True)
class Tolerance:
    """An element passes when |got - want| <= atol + rtol * |want|; ``want`` comes from a float64 oracle.
    Where an output has an error budget (budget.py), it must be within that, too.
    """

    atol: float
    rtol: float


@dataclass(frozen=True)
class TaskSpec:
    """What one task version asks for. Equal documents have equal digests; nothing here can change later."""

    slug: str
    sizes: tuple[str, ...]  # in the order in which a C entry point takes them
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    tolerances: Mapping[str, Tolerance]  # by output dtype
    languages: tuple[Language, ...]
    bytes: str  # expression: least bytes moved through memory
    flops: str  # expression: arithmetic operations
    flops_dtype: str  # the dtype whose peak rate bounds them
    cases: tuple[Case, ...]
    reference: str  # source of reference.py: reference(*inputs) -> tensor or tuple, for any float dtype
    forbids: tuple[str, ...] = ()  # rules of the screening (rules.py) that refuse here instead of warning
    hidden: Draws = field(default_factory=Draws)  # what hidden cases are drawn from
    budgets: Mapping[str, Budget] = field(default_factory=dict)  # by output name
    condition: str = ""  # source of condition.py: what the budgets are counted in (budget.py)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical document, 64 hex digits."""
        text = json.dumps(self.to_document(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def device_kinds(self) -> tuple[DeviceKind, ...]:
        return tuple(kind for kind in DeviceKind if any(case.device_kind == kind for case in self.cases))

    def cases_for(self, kind: DeviceKind, role: CaseRole) -> tuple[Case, ...]:
        return tuple(case for case in self.cases if case.device_kind == kind and case.role == role)

    def case_bytes(self, case: Case) -> int:
        """Least bytes one call moves."""
        return evaluate(self.bytes, case.sizes)

    def case_flops(self, case: Case) -> int:
        return evaluate(self.flops, case.sizes)

    def to_document(self) -> dict[str, Any]:
        """Plain JSON types only; ``from_document`` is its inverse."""
        document: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        # What is not used is left out, which keeps the digests of tasks that were there before the key was.
        for key in ("forbids", "hidden", "budgets", "condition"):
            if not getattr(self, key):
                del document[key]
        for case in document["cases"]:
            if not case["layouts"]:
                del case["layouts"]
        return document

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "TaskSpec":
        """Inverse of ``to_document``. Trusts its input: foreign task files go through ``parse_task``."""
        return cls(
            slug=document["slug"],
            sizes=tuple(document["sizes"]),
            inputs=tuple(_tensor(item) for item in document["inputs"]),
            outputs=tuple(_tensor(item) for item in document["outputs"]),
            tolerances={dtype: Tolerance(**item) for dtype, item in document["tolerances"].items()},
            languages=tuple(Language(item) for item in document["languages"]),
            bytes=document["bytes"],
            flops=document["flops"],
            flops_dtype=document["flops_dtype"],
            cases=tuple(_case(item, document["sizes"]) for item in document["cases"]),
            reference=document["reference"],
            forbids=tuple(document.get("forbids", ())),
            hidden=Draws.from_document(document["hidden"]) if "hidden" in document else Draws(),
            budgets={name: Budget.from_document(item) for name, item in document.get("budgets", {}).items()},
            condition=document.get("condition", ""),
        )


def _tensor(item: Mapping[str, Any]) -> TensorSpec:
    return TensorSpec(**{**item, "shape": tuple(item["shape"])})


def _case(item: Mapping[str, Any], order: Sequence[str]) -> Case:
    # A database keeps no order of keys; people read sizes in the order of the task file.
    sizes = {name: item["sizes"][name] for name in order}
    role, device_kind = CaseRole(item["role"]), DeviceKind(item["device_kind"])
    return Case(**{**item, "sizes": sizes, "role": role, "device_kind": device_kind})
