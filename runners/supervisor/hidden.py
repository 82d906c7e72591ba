"""Cases that nobody has seen: drawn per evaluation, never written to a result by their sizes or seeds."""

import secrets
from collections.abc import Mapping

from runners.contract.expressions import ExpressionError
from runners.contract.spec import Case, TaskSpec
from runners.contract.vocabulary import CaseRole, DeviceKind

_VARIED_AT_LEAST = 3  # distinct values a size needs among the test cases before it may be drawn anew
_LARGEST_STEP = 7
_MOST_GROWTH = 2  # a drawn case stays within this factor of its model


def hidden_cases(spec: TaskSpec, kind: DeviceKind) -> list[Case]:
    """One hidden case per test case, with a secret size and distribution where the task varies them.

    A size that takes fewer than three values in the test cases may carry a precondition (a power of two, a
    head dimension), so it keeps its value; fills are drawn among those that the task's test cases use for
    that input.
    """
    models = spec.cases_for(kind, CaseRole.TEST)
    random = secrets.SystemRandom()
    fills = _fills(spec, models)
    seen = {name: sorted({case.sizes[name] for case in models}) for name in spec.sizes}
    free = [name for name, values in seen.items() if len(values) >= _VARIED_AT_LEAST]
    cases = []
    for index, model in enumerate(models):
        sizes = dict(model.sizes)
        for name in free:
            low, high = seen[name][0], seen[name][-1]
            drawn = sizes[name] + random.randint(-_LARGEST_STEP, _LARGEST_STEP)
            sizes[name] = max(low, min(high, drawn, sizes[name] * _MOST_GROWTH))
        if not _valid(spec, sizes):
            sizes = dict(model.sizes)
        drawn_fills = {name: random.choice(choices) for name, choices in fills.items()}
        cases.append(Case(f"hidden-{index + 1}", CaseRole.TEST, kind, sizes, drawn_fills))
    random.shuffle(cases)
    return [
        Case(f"hidden-{index + 1}", case.role, case.device_kind, case.sizes, case.fills)
        for index, case in enumerate(cases)
    ]


def _fills(spec: TaskSpec, models: tuple[Case, ...]) -> Mapping[str, list[str]]:
    """The fills each input appears with, its own included."""
    return {
        tensor.name: sorted({case.fills.get(tensor.name, tensor.fill) for case in models})
        for tensor in spec.inputs
    }


def _valid(spec: TaskSpec, sizes: Mapping[str, int]) -> bool:
    """No axis may vanish, and every expression must have a value."""
    try:
        return all(all(tensor.dims(sizes)) for tensor in (*spec.inputs, *spec.outputs))
    except ExpressionError:
        return False
