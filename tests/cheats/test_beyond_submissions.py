"""Cheats that are a fault of the task, of the board or of the device, and are looked for there."""

import ast
import copy
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from leaderboard.catalog.loader import CatalogTask, load_all
from leaderboard.models import Baseline
from leaderboard.ranking import Entry, rank
from leaderboard.services.baselines import baseline_source
from runners.contract.parse import parse_task
from runners.contract.reading import SpecError
from runners.contract.spec import Case, TaskSpec
from runners.contract.vocabulary import CaseRole, DeviceKind
from runners.supervisor.cpu_session import CpuSession
from tests.catalog import trial

TASKS = load_all()
_MOST_BYTES = 2**20
_SAME = "def reference(x):\n    return x\n"

each_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.slug)


def small_cases(spec: TaskSpec) -> list[Case]:
    """Test cases with ordinary values and more than one of them."""
    return [
        case
        for case in spec.cases
        if case.role == CaseRole.TEST
        and not case.fills
        and spec.case_bytes(case) <= _MOST_BYTES
        and max(case.sizes.values()) > 1
    ]


@pytest.mark.parametrize("task", [task for task in TASKS if DeviceKind.CPU in task.spec.device_kinds])
@pytest.mark.parametrize("cache", [2**20, 32 * 2**20])
def test_slots_overflow_the_last_level_cache(task: CatalogTask, cache: int) -> None:
    """C07, C08: what one call leaves in the cache is gone when its place is used again."""
    session = SimpleNamespace(spec=task.spec, _target=SimpleNamespace(facts={"llc_bytes": cache}))
    for case in task.spec.cases_for(DeviceKind.CPU, CaseRole.BENCHMARK):
        slots = CpuSession.slots_for(session, case)  # type: ignore[arg-type]
        used = slots * sum(t.nbytes(case.sizes) for t in (*task.spec.inputs, *task.spec.outputs))
        assert used >= 2 * cache or case.fits_in_cache, case.name


@pytest.mark.parametrize("dtype", [name for name in dir(torch) if name.startswith(("float8", "float4"))])
@pytest.mark.parametrize("role", ["inputs", "outputs"])
def test_no_task_asks_for_less_than_sixteen_bits(dtype: str, role: str) -> None:
    """C47: a task of any narrower kind that torch has is refused when it is read."""
    document = _toml_of("affine")
    assert parse_task("wide", document, _SAME)
    document[role][0]["dtype"] = dtype
    with pytest.raises(SpecError, match=dtype):
        parse_task("narrow", document, _SAME)


def _toml_of(task: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "tasks" / task / "task.toml").read_text())


@each_task
def test_every_input_matters(task: CatalogTask) -> None:
    """C49: a change of any one input changes most of some output, by more than the tolerance."""
    spec = task.spec
    case = max(small_cases(spec), key=spec.case_bytes)
    inputs = trial.inputs_of(spec, case)
    others = trial.inputs_of(spec, case, seed=1)
    before = trial.oracle(spec, inputs)
    for index, tensor in enumerate(spec.inputs):
        changed = (*inputs[:index], others[index], *inputs[index + 1 :])
        after = trial.oracle(spec, changed)
        shares = [
            float(((a - b).abs() > 1e-3 * b.abs()).double().mean())
            for a, b in zip(after, before, strict=True)
        ]
        # A label moves only two of a row's gradients.
        assert max(shares) > 0.5, f"{case.name}: {tensor.name} changes {max(shares):.0%} of an output"


@each_task
def test_outputs_are_not_nearly_constant(task: CatalogTask) -> None:
    """C49: one value everywhere is no answer within a hundred tolerances."""
    spec = task.spec
    case = max(small_cases(spec), key=spec.case_bytes)
    for output in trial.oracle(spec, trial.inputs_of(spec, case)):
        if output.numel() > 1:
            wide = output.double()
            assert float(wide.std()) > 0.05 * float(wide.abs().mean())


class _Without(ast.NodeTransformer):
    """Replaces the call or operation number ``number`` by its first operand."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.seen = 0
        self.text = ""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        operand = _first_operand(node)
        if operand is None:
            return node
        self.seen += 1
        if self.seen - 1 != self.number:
            return node
        self.text = ast.unparse(node)
        return operand


def _first_operand(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch")), args=[first, *_]):
            return first
        case ast.Call(func=ast.Attribute(value=ast.Attribute()), args=[first, *_]):
            return first
        case ast.Call(func=ast.Attribute(value=receiver)):
            return receiver
        case ast.BinOp(left=left):
            return left
        case _:
            return None


def ablations(reference: str) -> Iterator[tuple[str, str]]:
    """(operation, reference without it) for each operation."""
    number = 0
    while True:
        change = _Without(number)
        tree = change.visit(copy.deepcopy(ast.parse(reference)))
        if number >= change.seen:
            return
        yield change.text, ast.unparse(ast.fix_missing_locations(tree))
        number += 1


#: Changes the layout, the type or a guard, which another check holds; not the values.
_SHAPE_ONLY = ("reshape", "contiguous", "squeeze", "unsqueeze", ".to(", "1e-06")


@each_task
def test_no_operation_of_a_reference_is_redundant(task: CatalogTask) -> None:
    """C50: without any one of its operations the reference fails or gives something else."""
    spec = task.spec
    case = max(small_cases(spec), key=spec.case_bytes)
    inputs = trial.in_dtype(trial.inputs_of(spec, case), torch.float64)
    want = trial.oracle(spec, trial.inputs_of(spec, case))
    for operation, source in ablations(spec.reference):
        if any(word in operation for word in _SHAPE_ONLY):
            continue
        scope: dict[str, trial.Kernel] = {}
        exec(compile(source, "ablated.py", "exec"), scope)  # noqa: S102 - our own reference
        try:
            got = trial.apply(scope["reference"], tuple(item.clone() for item in inputs))
        except (RuntimeError, TypeError, IndexError, AttributeError, ValueError):
            continue
        same = len(got) == len(want) and all(
            a.shape == b.shape and torch.allclose(a.double(), b.double(), rtol=1e-3, atol=1e-6)
            for a, b in zip(got, want, strict=True)
        )
        assert not same, f"{operation} changes nothing in {case.name}"


@each_task
def test_no_timed_input_is_constant(task: CatalogTask) -> None:
    """C51. Whole numbers may be: equal keys are the hard case of a histogram."""
    for case in task.spec.cases:
        if case.role == CaseRole.BENCHMARK:
            floating = [tensor for tensor in task.spec.inputs if "float" in tensor.dtype]
            fills = {tensor.name: case.fills.get(tensor.name, tensor.fill) for tensor in floating}
            assert not {"zeros", "constant"} & set(fills.values()), f"{case.name}: {fills}"


@each_task
def test_baselines_are_no_straw_men(task: CatalogTask) -> None:
    """C52: the reference is whole-tensor code, and is entered both as it is and compiled."""
    loops = [
        node for node in ast.walk(ast.parse(task.spec.reference)) if isinstance(node, (ast.For, ast.While))
    ]
    assert not loops
    assert baseline_source(task.spec.reference, Baseline.EAGER).startswith(task.spec.reference.rstrip())
    assert "torch.compile" in baseline_source(task.spec.reference, Baseline.COMPILED)


def test_one_row_per_user() -> None:
    """C53: however many near-identical entries a user makes, one of them stands on the board."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    entries = [
        Entry(entrant, False, 1.0 + 1e-6 * number, 0.99, 1.01, start + timedelta(seconds=number), number)
        for number in range(50)
        for entrant in ("a cloner", "an honest user")
    ]
    assert [place.entry.entrant for place in rank(entries)] == ["a cloner", "an honest user"]
