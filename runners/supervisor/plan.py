"""The sandbox that a built submission runs in."""

from runners.backends.base import Built
from runners.contract.job import Job
from runners.sandbox.bounds import Bounds
from runners.sandbox.spawn import Layers, Plan


def plan_for(job: Job, built: Built, bounds: Bounds, layers: Layers) -> Plan:
    """Plain libraries need no third-party package, so that their child starts in milliseconds."""
    return Plan("child", bounds, layers, job.target.cores, packages=built.kind == "python")
