"""The sandbox that a built submission runs in."""

from dataclasses import replace

from runners.backends.base import Built
from runners.contract.job import Job
from runners.contract.vocabulary import DeviceKind
from runners.sandbox.bounds import Bounds
from runners.sandbox.nvidia import gpu_access
from runners.sandbox.spawn import Layers, Plan


def plan_for(job: Job, built: Built, bounds: Bounds, layers: Layers) -> Plan:
    """Plain libraries need no third-party package, so that their child starts in milliseconds."""
    plan = Plan("child", bounds, layers, job.target.cores, packages=built.kind == "python")
    if job.target.kind != DeviceKind.CUDA:
        return plan
    access = gpu_access(job.target.index)
    return replace(
        plan,
        role="cuda_child",
        devices=access.devices,
        more_paths=access.paths,
        environment=access.environment,
    )
