"""Cases that nobody has seen: drawn per evaluation, never written to a result by their sizes or seeds."""

import math
import random
import secrets
from collections.abc import Sequence
from typing import Any, TypeVar

from runners.contract.draws import SizeDraw
from runners.contract.expressions import ExpressionError
from runners.contract.layout import LAYOUTS
from runners.contract.spec import Case, TaskSpec
from runners.contract.vocabulary import CaseRole, DeviceKind
from runners.supervisor.departures import allowed_fills

T = TypeVar("T")

_VARIED_AT_LEAST = 3  # distinct values a size needs among the test cases before it may be drawn anew
_LARGEST_STEP = 7
_MOST_GROWTH = 2  # a case drawn without a range stays within this factor of its model
_ATTEMPTS = 40  # draws of sizes before a test case's own are taken
_DENSE = ""


def hidden_cases(
    spec: TaskSpec, kind: DeviceKind, *, strided: bool = False, source: random.Random | None = None
) -> list[Case]:
    """One hidden case per test case, of secret sizes, distributions and, where ``strided``, layouts.

    Sizes come from the task's ranges (draws.py) and next to borders of powers of two as often as not, where
    tiles and vectors end. None moves more bytes or computes more than the largest test case. Without ranges
    a size that takes fewer than three values in the test cases may carry a precondition (a power of two, a
    head dimension), so it keeps its value, and others stay near a test case's. In each case at most one input
    has values unlike its own fill, and none of these comes up twice before all did; layouts likewise.
    ``source`` is for tests; the system's random numbers else.
    """
    chance = source or secrets.SystemRandom()
    models = spec.cases_for(kind, CaseRole.TEST)
    fills = _dealt([{}, *_departures(spec, kind)], len(models), chance)
    layouts = {
        name: _dealt((_DENSE, *LAYOUTS), len(models), chance) if strided else [_DENSE] * len(models)
        for name in spec.hidden.strided
    }
    cases = []
    for index, model in enumerate(chance.sample(models, len(models))):
        sizes = _sizes(spec, kind, model, chance)
        lying = {name: dealt[index] for name, dealt in layouts.items() if dealt[index]}
        cases.append(Case(f"hidden-{index + 1}", CaseRole.TEST, kind, sizes, fills[index], layouts=lying))
    return cases


def _dealt(choices: Sequence[T], count: int, chance: random.Random) -> list[T]:
    """``count`` of ``choices`` in random order, none twice before all came up."""
    dealt: list[T] = []
    while len(dealt) < count:
        dealt += chance.sample(choices, len(choices))
    return dealt[:count]


def _departures(spec: TaskSpec, kind: DeviceKind) -> list[dict[str, str]]:
    """One input, one fill that is not its own."""
    return [
        {tensor.name: fill}
        for tensor in spec.inputs
        for fill in allowed_fills(spec, kind, tensor)
        if fill != tensor.fill
    ]


def _sizes(spec: TaskSpec, kind: DeviceKind, model: Case, chance: random.Random) -> dict[str, int]:
    models = spec.cases_for(kind, CaseRole.TEST)
    draws = spec.hidden.sizes.get(kind)
    most_bytes = max(map(spec.case_bytes, models))
    most_flops = max(map(spec.case_flops, models))
    for _ in range(_ATTEMPTS):
        if draws:
            sizes = {
                name: _drawn(draws[name], chance) if name in draws else value
                for name, value in model.sizes.items()
            }
        else:
            sizes = _near(spec, models, model, chance)
        case: Any = Case("hidden", CaseRole.TEST, kind, sizes, {})
        try:
            solid = all(all(tensor.dims(sizes)) for tensor in (*spec.inputs, *spec.outputs))
            if solid and spec.case_bytes(case) <= most_bytes and spec.case_flops(case) <= most_flops:
                return sizes
        except ExpressionError:
            continue
    return dict(model.sizes)


def _drawn(draw: SizeDraw, chance: random.Random) -> int:
    """Small and large sizes are equally likely: evenly on a logarithmic scale."""
    if draw.choices:
        return chance.choice(draw.choices)
    value = int(math.exp(chance.uniform(math.log(draw.least), math.log(draw.most + 1))))
    if chance.random() < 0.5:  # half of them as they are, half at a border
        power = 1 << chance.randrange(value.bit_length() or 1)
        value = value // power * power + chance.choice((-1, 0, 1))
    return max(draw.least, min(draw.most, value))


def _near(spec: TaskSpec, models: Sequence[Case], model: Case, chance: random.Random) -> dict[str, int]:
    """The sizes of ``model``, those that the test cases vary changed by a little."""
    sizes = dict(model.sizes)
    for name in spec.sizes:
        seen = sorted({case.sizes[name] for case in models})
        if len(seen) >= _VARIED_AT_LEAST:
            drawn = sizes[name] + chance.randint(-_LARGEST_STEP, _LARGEST_STEP)
            sizes[name] = max(seen[0], min(seen[-1], drawn, sizes[name] * _MOST_GROWTH))
    return sizes
