"""Where an evaluation gets its sandboxes from: one that was started ahead for the same plan, or a new one."""

import math
from collections.abc import Callable
from dataclasses import replace

from runners.contract.job import DeviceTarget
from runners.sandbox.bounds import Bounds
from runners.sandbox.spawn import Layers, Plan
from runners.supervisor.child import Child
from runners.supervisor.plan import plans_ahead
from runners.supervisor.stop import Stop

_NEVER = Stop(math.inf, math.inf)


class Sandboxes:
    """A sandbox that is given away is gone from here, so that none serves twice."""

    def __init__(self, start: Callable[[Plan, Stop], Child] = Child) -> None:
        self._start = start
        self._ready: list[tuple[Plan, Child]] = []
        self._leaving: list[Child] = []

    def prepare(self, target: DeviceTarget, bounds: Bounds, layers: Layers) -> None:
        """Starts one sandbox for each plan that a job on ``target`` may ask for, and waits for none."""
        for plan in plans_ahead(target, bounds, layers):
            self._ready.append((plan, self._start(plan, _NEVER)))

    def open(self, plan: Plan, stop: Stop) -> Child:
        """A sandbox for ``plan`` to the letter: one with other bounds or layers will not do."""
        for place, (ready, child) in enumerate(self._ready):
            if ready == plan:
                del self._ready[place]
                if child.alive():
                    child.heed(stop)
                    return child
                child.close()
                break
        return self._start(replace(plan, imports_ahead=()), stop)

    def dismiss(self, unneeded: Callable[[Plan], bool] = lambda plan: True) -> None:
        """Kills those that nobody will take, without waiting for their end."""
        leaving = [item for item in self._ready if unneeded(item[0])]
        self._ready = [item for item in self._ready if item not in leaving]
        for _, child in leaving:
            child.kill()
            self._leaving.append(child)

    def close(self) -> None:
        """Waits for the end of those that nobody took."""
        self.dismiss()
        while self._leaving:
            self._leaving.pop().close()
