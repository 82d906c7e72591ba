"""The task's reference, run in double precision: what the outputs should have been."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import Verdict
from runners.harness.precision import be_strict
from runners.supervisor.outcome import Ended


class Oracle:
    """Holds the reference of one task. It comes with the site's own tasks and is trusted."""

    def __init__(self, spec: TaskSpec, device: str = "cpu") -> None:
        """``device`` is where the inputs will lie and the reference runs."""
        be_strict()  # as where submissions run
        self.device = device
        self._spec = spec
        self._function = _loaded(spec.reference, "reference")
        self._condition = _loaded(spec.condition, "condition") if spec.budgets else None

    def __call__(self, inputs: Sequence[torch.Tensor], sizes: Mapping[str, int]) -> list[torch.Tensor]:
        """Outputs for ``inputs``; floating ones are upcast to float64 first, which is exact."""
        return self._run(self._function, self._wide(inputs), sizes)

    def roughly(self, inputs: Sequence[torch.Tensor], sizes: Mapping[str, int]) -> list[torch.Tensor]:
        """Outputs computed in the inputs' own dtypes: several times quicker, and only about right."""
        return self._run(self._function, inputs, sizes)

    def condition(
        self, inputs: Sequence[torch.Tensor], sizes: Mapping[str, int]
    ) -> Sequence[torch.Tensor | None]:
        """What the operator adds up without signs, per output (contract/budget.py); None without a budget.

        In float64, as what overflows float32 bounds nothing.
        """
        if self._condition is None:
            return [None] * len(self._spec.outputs)
        return self._run(self._condition, self._wide(inputs), sizes)

    @staticmethod
    def _wide(inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        return [item.to(torch.float64) if item.is_floating_point() else item for item in inputs]

    def _run(
        self, function: Callable[..., Any], inputs: Sequence[torch.Tensor], sizes: Mapping[str, int]
    ) -> list[torch.Tensor]:
        try:
            # Tensors that a reference makes for itself belong on the same device.
            with torch.no_grad(), torch.device(self.device):
                results = function(*inputs)
        except Exception as error:
            raise Ended(Verdict.INTERNAL_ERROR, f"The task's reference failed: {error!r}.") from error
        results = [results] if isinstance(results, torch.Tensor) else list(results)
        if len(results) != len(self._spec.outputs):
            raise Ended(Verdict.INTERNAL_ERROR, "The task's reference returns the wrong number of outputs.")
        shaped = []
        for result, output in zip(results, self._spec.outputs, strict=True):
            dims = output.dims(sizes)
            if result.numel() != torch.Size(dims).numel():
                text = f"output {output.name}: shape {tuple(result.shape)} instead of {dims}"
                raise Ended(Verdict.INTERNAL_ERROR, f"The task's reference returns {text}.")
            shaped.append(result.reshape(dims))
        return shaped


def _loaded(source: str, name: str) -> Callable[..., Any]:
    """The function ``name`` of a task's own text."""
    scope: dict[str, Any] = {"__name__": name}
    try:
        exec(compile(source, f"{name}.py", "exec"), scope)  # noqa: S102 - the task's own text
        function: Callable[..., Any] = scope[name]
    except Exception as error:
        raise Ended(Verdict.INTERNAL_ERROR, f"The task's {name}.py does not load: {error!r}.") from error
    return function
