"""The sandboxes that the steps of an evaluation run in."""

from collections.abc import Sequence
from dataclasses import replace

from runners.backends.cuda import toolchain
from runners.contract.job import DeviceTarget
from runners.contract.vocabulary import DeviceKind
from runners.devices import cores_beside
from runners.sandbox.bounds import COMPILER_BOUNDS, Bounds
from runners.sandbox.nvidia import gpu_access
from runners.sandbox.spawn import Layers, Plan

#: What the harness of a Python submission loads before it says that it is ready.
_TORCH = ("runners.harness.python_kernel",)
_FIRST_LAUNCHES = ("runners.harness.warm_cuda",)


def plan_for(target: DeviceTarget, kind: str, bounds: Bounds, layers: Layers) -> Plan:
    """For a built submission of ``kind``. Plain libraries need no third-party package, so that their child
    starts in milliseconds.
    """
    python = kind == "python"
    cores = tuple(target.cores)
    plan = Plan("child", bounds, layers, cores, packages=python, imports=_TORCH if python else ())
    if target.kind != DeviceKind.CUDA:
        return replace(plan, stopped=True)  # the clock of the CPU stops it
    access = gpu_access(target.index)
    return replace(
        plan,
        role="cuda_child",
        imports_ahead=_FIRST_LAUNCHES if python else (),
        devices=access.devices,
        more_paths=access.paths,
        environment=access.environment,
    )


def workshop_plan(layers: Layers, cores: Sequence[int], more_paths: Sequence[str] = ()) -> Plan:
    """For compilers, which get ``cores`` only and no priority over other work."""
    return Plan(
        "workshop", COMPILER_BOUNDS, layers, tuple(cores), before_others=False, more_paths=tuple(more_paths)
    )


def plans_ahead(target: DeviceTarget, bounds: Bounds, layers: Layers) -> list[Plan]:
    """The plans of every sandbox that a job on ``target`` with the usual bounds may ask for, the slowest to
    start first.
    """
    folders: tuple[str, ...] = ()
    if target.kind == DeviceKind.CUDA:
        try:
            folders = toolchain.find().folders
        except toolchain.NoCompilerError:
            folders = ()
    measured = [plan_for(target, kind, bounds, layers) for kind in ("python", "library")]
    return [*measured, workshop_plan(layers, cores_beside(target.cores), folders)]
