"""Reading a task file. Whatever is wrong in it becomes one sentence naming what and where."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from runners.contract.budget import parse_budgets, units_of
from runners.contract.draws import parse_draws
from runners.contract.expressions import ExpressionError, evaluate
from runners.contract.layout import LAYOUTS
from runners.contract.reading import SpecError, entries, member, section, tables, text
from runners.contract.rules import RULES
from runners.contract.spec import FILLS, ITEM_SIZE, Case, TaskSpec, TensorSpec, Tolerance
from runners.contract.vocabulary import CaseRole, DeviceKind, Language

_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}\Z")
_SLUG = re.compile(r"[a-z][a-z0-9-]{0,63}\Z")
_LARGEST_TENSOR = 16 * 2**30  # bytes; past this a typing error is likelier than a task
_MOST_CASES = 100
#: Fills that whole numbers know as well as floating ones.
_ANY_DTYPE = ("constant", "zeros")


def parse_task(slug: str, document: Mapping[str, Any], reference: str, condition: str = "") -> TaskSpec:
    """The TaskSpec of a parsed ``task.toml``, the text of its ``reference.py`` and, where it has error
    budgets, of its ``condition.py``.

    Raises SpecError naming the key at fault.
    """
    if not _SLUG.match(slug):
        raise SpecError(f"task name {slug!r}: lower-case letters, digits and hyphens only")
    if "def reference(" not in reference:
        raise SpecError("reference.py: defines no function reference(...)")
    sizes = tuple(_names(document, "sizes"))
    inputs = tuple(_tensor(item, f"inputs[{i}]", True) for i, item in enumerate(tables(document, "inputs")))
    outputs = tuple(
        _tensor(item, f"outputs[{i}]", False) for i, item in enumerate(tables(document, "outputs"))
    )
    names = [tensor.name for tensor in (*inputs, *outputs)] + list(sizes)
    for name in names:
        if names.count(name) > 1:
            raise SpecError(f"the name {name!r} is used more than once among inputs, outputs and sizes")
    languages = tuple(member(Language, item, "languages") for item in entries(document, "languages"))
    cost = section(document, "cost")
    fitting = {item.name: _fitting(item.dtype) for item in inputs}
    floating = [output.name for output in outputs if "float" in output.dtype]
    spec = TaskSpec(
        slug=slug,
        sizes=sizes,
        inputs=inputs,
        outputs=outputs,
        tolerances=_tolerances(section(document, "tolerance"), outputs),
        languages=languages,
        bytes=text(cost, "bytes", "cost"),
        flops=text(cost, "flops", "cost"),
        flops_dtype=text(cost, "dtype", "cost"),
        cases=tuple(_cases(section(document, "cases"), sizes, set(fitting))),
        reference=reference,
        forbids=tuple(_rules(document)),
        hidden=parse_draws(document, sizes, fitting),
        budgets=parse_budgets(document, floating, FILLS, condition),
        condition=condition if "budget" in document else "",
    )
    _check_cases(spec)
    return spec


def _fitting(dtype: str) -> tuple[str, ...]:
    """The fills that numbers of ``dtype`` can have."""
    return tuple(fill for fill in FILLS if (fill == "integers") == ("int" in dtype) or fill in _ANY_DTYPE)


def _rules(document: Mapping[str, Any]) -> list[str]:
    """``forbids = ["library_call", …]``; none where the key is missing."""
    names = entries(document, "forbids") if "forbids" in document else []
    for name in names:
        if name not in RULES:
            raise SpecError(f"forbids: {name!r} is not one of {', '.join(RULES)}")
    return sorted(set(names))


def _cases(groups: Mapping[str, Any], sizes: tuple[str, ...], inputs: set[str]) -> list[Case]:
    """``[cases.cpu] test = [{rows = 4}, …] benchmark = […]``; a name is made from the sizes unless given."""
    cases: list[Case] = []
    for kind_text, roles in groups.items():
        kind = member(DeviceKind, kind_text, "cases")
        if not isinstance(roles, Mapping):
            raise SpecError(f"cases.{kind_text}: must be a table with test and benchmark")
        for role_text, items in roles.items():
            role = member(CaseRole, role_text, f"cases.{kind_text}")
            if not isinstance(items, list):
                raise SpecError(f"cases.{kind_text}.{role_text}: must be a list of tables")
            for index, item in enumerate(items):
                where = f"cases.{kind_text}.{role_text}[{index}]"
                cases.append(_case(item, where, kind, role, sizes, inputs))
    if len(cases) > _MOST_CASES:
        raise SpecError(f"cases: {len(cases)} are given, at most {_MOST_CASES} allowed")
    return cases


def _case(
    item: Any, where: str, kind: DeviceKind, role: CaseRole, sizes: tuple[str, ...], inputs: set[str]
) -> Case:
    if not isinstance(item, Mapping):
        raise SpecError(f"{where}: must be a table of sizes")
    extra = set(item) - set(sizes) - {"fills", "fits_in_cache", "layouts", "name"}
    if extra:
        raise SpecError(f"{where}: unknown key {sorted(extra)[0]!r}")
    values: dict[str, int] = {}
    for name in sizes:
        value = item.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 2**40:
            raise SpecError(f"{where}.{name}: must be a whole number from 1 to 2**40, not {value!r}")
        values[name] = value
    fills = item.get("fills", {})
    for name, fill in fills.items():
        if name not in inputs:
            raise SpecError(f"{where}.fills: there is no input {name!r}")
        if fill not in FILLS:
            raise SpecError(f"{where}.fills.{name}: {fill!r} is not one of {', '.join(FILLS)}")
    layouts = _layouts(item, where, role, inputs)
    words = [str(value) for value in values.values()]
    words += [f"{input_name}-{word}" for input_name, word in (*fills.items(), *layouts.items())]
    name = item.get("name") or f"{kind}-{role}-{'x'.join(words)}"
    return Case(str(name), role, kind, values, dict(fills), str(item.get("fits_in_cache", "")), layouts)


def _layouts(item: Mapping[str, Any], where: str, role: CaseRole, inputs: set[str]) -> dict[str, str]:
    layouts = dict(section(item, "layouts", where)) if "layouts" in item else {}
    for name, layout in layouts.items():
        if name not in inputs:
            raise SpecError(f"{where}.layouts: there is no input {name!r}")
        if layout not in LAYOUTS:
            raise SpecError(f"{where}.layouts.{name}: {layout!r} is not one of {', '.join(LAYOUTS)}")
    if layouts and role == CaseRole.BENCHMARK:
        raise SpecError(f"{where}.layouts: only test cases have them; everybody is timed on dense memory")
    return layouts


def _check_cases(spec: TaskSpec) -> None:
    """Every expression must have a value in every case, and each device kind needs both roles."""
    names = [case.name for case in spec.cases]
    for name in names:
        if names.count(name) > 1:
            raise SpecError(f"cases: two are named {name!r}; give one a name of its own")
    for kind in spec.device_kinds:
        for role in CaseRole:
            if not spec.cases_for(kind, role):
                raise SpecError(f"cases.{kind}: has no {role} case")
    if not spec.cases:
        raise SpecError("cases: none are given")
    for case in spec.cases:
        try:
            for tensor in (*spec.inputs, *spec.outputs):
                if tensor.nbytes(case.sizes) > _LARGEST_TENSOR:
                    raise SpecError(f"case {case.name}: {tensor.name} is larger than 16 GiB")
            for tensor in spec.inputs:
                evaluate(tensor.low, case.sizes)
                evaluate(tensor.high, case.sizes)
            spec.case_bytes(case)
            spec.case_flops(case)
            for name, budget in spec.budgets.items():
                units_of(budget, case.sizes, f"case {case.name}, output {name}")
        except ExpressionError as error:
            raise SpecError(f"case {case.name}: {error}") from error


def _tensor(item: Mapping[str, Any], where: str, is_input: bool) -> TensorSpec:
    extra = set(item) - {"name", "dtype", "shape", *(("fill", "low", "high", "scale") if is_input else ())}
    if extra:
        raise SpecError(f"{where}: unknown key {sorted(extra)[0]!r}")
    name = text(item, "name", where)
    if not _NAME.match(name):
        raise SpecError(f"{where}.name: {name!r} is not a lower-case identifier")
    dtype = text(item, "dtype", where)
    if dtype not in ITEM_SIZE:
        raise SpecError(f"{where}.dtype: {dtype!r} is not one of {', '.join(ITEM_SIZE)}")
    fill = item.get("fill", "normal" if "float" in dtype else "integers")
    if fill not in FILLS or (fill == "integers") != ("int" in dtype):
        raise SpecError(f"{where}.fill: {fill!r} does not fit {dtype}")
    shape = tuple(str(axis) for axis in entries(item, "shape", where))
    if not shape:
        raise SpecError(f"{where}.shape: needs at least one axis")
    low, high = str(item.get("low", 0)), str(item.get("high", 2))
    scale = item.get("scale", 1.0)
    if not isinstance(scale, (int, float)) or isinstance(scale, bool):
        raise SpecError(f"{where}.scale: must be a number")
    return TensorSpec(name, dtype, shape, fill, low, high, float(scale))


def _tolerances(table: Mapping[str, Any], outputs: Sequence[TensorSpec]) -> dict[str, Tolerance]:
    tolerances: dict[str, Tolerance] = {}
    for dtype in sorted({output.dtype for output in outputs}):
        if "int" in dtype:
            tolerances[dtype] = Tolerance(0.0, 0.0)
            continue
        item = section(table, dtype, "tolerance")
        values = []
        for key in ("atol", "rtol"):
            value = item.get(key)
            if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value < 1:
                raise SpecError(f"tolerance.{dtype}.{key}: must be a number from 0 to below 1, not {value!r}")
            values.append(float(value))
        tolerances[dtype] = Tolerance(*values)
    return tolerances


def _names(table: Mapping[str, Any], key: str) -> list[str]:
    names = entries(table, key)
    for name in names:
        if not isinstance(name, str) or not _NAME.match(name):
            raise SpecError(f"{key}: {name!r} is not a lower-case identifier")
    return names
