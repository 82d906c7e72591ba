"""The outputs of one call against the float64 oracle: by the task's tolerance and its error budgets."""

from collections.abc import Sequence

import torch

from runners.contract.budget import units_of
from runners.contract.result import OutputError
from runners.contract.spec import Case, TaskSpec
from runners.supervisor.compare import Bound, compare
from runners.supervisor.departures import Departure
from runners.supervisor.oracle import Oracle


def check_outputs(
    oracle: Oracle,
    spec: TaskSpec,
    case: Case,
    given: Sequence[torch.Tensor],
    got: Sequence[torch.Tensor],
    departure: Departure | None = None,
) -> list[OutputError]:
    """One entry per output; ``given`` are the call's inputs and ``got`` its outputs.

    ``departure`` is how ``given`` departs from the case. Tolerances are set for what the task's cases reach:
    where the reference in the task's own precision fails by them, too, there are no entries.
    """
    wanted = oracle(given, case.sizes)
    conditions = oracle.condition(given, case.sizes)
    fills = {case.fills.get(tensor.name, tensor.fill) for tensor in spec.inputs}
    fills |= {departure.fill} if departure else set()

    def against(outputs: Sequence[torch.Tensor]) -> list[OutputError]:
        errors = []
        for output, mine, want, condition in zip(spec.outputs, outputs, wanted, conditions, strict=True):
            bound = None if condition is None else _bound(spec, case, output.name, condition, fills)
            errors.append(compare(output.name, mine, want, spec.tolerances[output.dtype], bound))
        return errors

    errors = against(got)
    if departure and any(error["mismatches"] for error in errors):
        pairs = zip(oracle.roughly(given, case.sizes), spec.outputs, strict=True)
        plain = against([item.to(getattr(torch, output.dtype)) for item, output in pairs])
        if any(error["mismatches"] for error in plain):
            return []
    return errors


def allowance_used(errors: Sequence[OutputError]) -> float | None:
    """The largest share of a tolerance or budget that an element took; None when one is not finite."""
    shares = [error["tolerance_used"] for error in errors if "tolerance_used" in error]
    shares += [error["budget_used"] for error in errors if "budget_used" in error]
    told = [share for share in shares if share is not None]
    return max(told, default=0.0) if len(told) == len(shares) else None


def _bound(spec: TaskSpec, case: Case, name: str, condition: torch.Tensor, fills: set[str]) -> Bound | None:
    budget = spec.budgets.get(name)
    if budget is None:
        return None
    return Bound(condition, units_of(budget, case.sizes, case.name), bool(fills & set(budget.alone)))
