"""The outputs of one call against the float64 oracle: by the task's tolerance and its error budgets."""

from collections.abc import Sequence

import torch

from runners.contract.budget import units_of
from runners.contract.result import OutputError
from runners.contract.spec import Case, TaskSpec
from runners.supervisor.compare import Bound, compare
from runners.supervisor.oracle import Oracle


def check_outputs(
    oracle: Oracle, spec: TaskSpec, case: Case, given: Sequence[torch.Tensor], got: Sequence[torch.Tensor]
) -> list[OutputError]:
    """One entry per output; ``given`` are the call's inputs and ``got`` its outputs."""
    wanted = oracle(given, case.sizes)
    conditions = oracle.condition(given, case.sizes)
    errors = []
    for output, mine, want, condition in zip(spec.outputs, got, wanted, conditions, strict=True):
        bound = None if condition is None else _bound(spec, case, output.name, condition)
        errors.append(compare(output.name, mine, want, spec.tolerances[output.dtype], bound))
    return errors


def allowance_used(errors: Sequence[OutputError]) -> float | None:
    """The largest share of a tolerance or budget that an element took; None when one is not finite."""
    shares = [error["tolerance_used"] for error in errors if "tolerance_used" in error]
    shares += [error["budget_used"] for error in errors if "budget_used" in error]
    told = [share for share in shares if share is not None]
    return max(told, default=0.0) if len(told) == len(shares) else None


def _bound(spec: TaskSpec, case: Case, name: str, condition: torch.Tensor) -> Bound | None:
    budget = spec.budgets.get(name)
    if budget is None:
        return None
    fills = {case.fills.get(tensor.name, tensor.fill) for tensor in spec.inputs}
    return Bound(condition, units_of(budget, case.sizes, case.name), bool(fills & set(budget.alone)))
