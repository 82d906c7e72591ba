"""Supervisors started ahead: each serves one job, and whatever kills one, the job gets its verdict."""

import os
import select
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runners.contract.job import DeviceTarget, Job
from runners.contract.result import ResultDocument
from runners.sandbox import process_tree
from runners.sandbox.bounds import Bounds
from runners.sandbox.probe import Probe
from runners.supervisor.child import Child, Died
from runners.supervisor.client import SupervisorKilled, run_job
from runners.supervisor.plan import plan_for
from runners.supervisor.pool import WarmPool
from runners.supervisor.sandboxes import Sandboxes
from runners.supervisor.stop import Stop
from tests.engine.conftest import CPP, GOOD_CPP, GOOD_PYTHON

pytestmark = pytest.mark.sandbox
MakeJob = Callable[..., Job]
#: Wrong as soon as a file of an earlier run is there.
LEAVES_A_FILE = "#include <fstream>\n" + CPP.format(
    """
    static const bool seen = std::ifstream("/tmp/left").good();
    std::ofstream("/tmp/left") << "x";
    for (int64_t i = 0; i < rows * cols; i++) y[i] = 2 * x[i] + (seen ? 0 : 1);
    """
)


@pytest.fixture(scope="module")
def shared(target: DeviceTarget, engine_data: Path, proved: Probe) -> Iterator[WarmPool]:
    """A pool whose processes have all ended once it is closed."""
    before = set(process_tree.descendants(os.getpid()))
    with WarmPool(target, str(engine_data)) as pool:
        yield pool
        pool.refill()
        left = [os.pidfd_open(pid) for pid in process_tree.descendants(os.getpid()) if pid not in before]
    for process in left:
        ended, _, _ = select.select([process], [], [], 10)
        os.close(process)
        assert ended, "a process outlived its pool"


@pytest.fixture
def pool(shared: WarmPool) -> WarmPool:
    """One supervisor waits in it."""
    shared.refill()
    assert shared.waiting
    return shared


def run(
    job: Job, pool: WarmPool, on_event: Callable[[dict[str, Any]], None] = lambda event: None
) -> ResultDocument:
    return run_job(job, on_event=on_event, should_stop=lambda: False, pool=pool)


def test_each_supervisor_serves_one_job(pool: WarmPool, make_job: MakeJob) -> None:
    used: list[int] = []
    for _ in range(2):
        pool.refill()
        waiting = pool.waiting
        assert waiting

        def note(event: dict[str, Any], waiting: int = waiting) -> None:
            if event["type"] == "plan":
                assert pool.waiting is None, "one is started while another one works"
                assert process_tree.descendants(waiting), "the sandbox is not below the one that waited"
                used.append(waiting)

        document = run(make_job(LEAVES_A_FILE), pool, note)
        assert document["verdict"] == "passed", document["reason"]
    assert len(set(used)) == 2


def test_one_killed_while_it_waits_is_replaced(pool: WarmPool, make_job: MakeJob) -> None:
    killed = pool.waiting
    assert killed
    os.kill(killed, signal.SIGKILL)
    assert run(make_job(GOOD_CPP), pool)["verdict"] == "passed"
    pool.tend()
    assert pool.waiting is None, "a job may be running"
    pool.refill()
    assert pool.waiting not in (None, killed)


def test_one_that_grew_old_is_replaced(pool: WarmPool, monkeypatch: pytest.MonkeyPatch) -> None:
    old = pool.waiting
    pool.tend()
    assert pool.waiting == old
    monkeypatch.setattr("runners.supervisor.pool.OLDEST", 0)
    pool.tend()
    assert pool.waiting not in (None, old)


def test_without_its_nursery_a_job_is_started_cold(pool: WarmPool, make_job: MakeJob) -> None:
    assert pool.nursery
    os.kill(pool.nursery, signal.SIGKILL)
    assert run(make_job(GOOD_CPP), pool)["verdict"] == "passed"


@pytest.mark.parametrize("warm", [True, False])
def test_one_killed_in_the_middle_is_told_apart(pool: WarmPool, make_job: MakeJob, warm: bool) -> None:
    """With its nursery, or alone: the job is not to blame, so that who asked can try it again."""
    before = set(process_tree.children(os.getpid()))

    def kill(event: dict[str, Any]) -> None:
        if event["type"] == "plan":
            cold = set(process_tree.children(os.getpid())) - before
            victim = pool.nursery if warm else cold.pop()
            assert victim
            os.kill(victim, signal.SIGKILL)

    job = make_job(CPP.format("while (true);"))
    with pytest.raises(SupervisorKilled):
        run_job(job, on_event=kill, should_stop=lambda: False, pool=pool if warm else None, tell_killed=True)


def test_a_supervisor_that_dies_before_it_begins_is_not_the_jobs_fault(
    pool: WarmPool, make_job: MakeJob
) -> None:
    """It dies between the look at it and the job: here, of a request that it cannot read."""
    assert pool._waiting
    pool._waiting.supervisor.tell({"prepare": None, "then": "a job without its keys follows"})
    pool._waiting.supervisor.tell({})
    assert run(make_job(GOOD_CPP), pool)["verdict"] == "passed"


def test_a_job_for_other_cores_is_started_cold(
    pool: WarmPool, make_job: MakeJob, target: DeviceTarget
) -> None:
    assert run(make_job(GOOD_CPP, target=replace(target, cores=())), pool)["verdict"] == "passed"
    assert pool.waiting is None, "the waiting one would hold the device beside the job"


def test_suites_fork_one_for_each_job(target: DeviceTarget, make_job: MakeJob, proved: Probe) -> None:
    with WarmPool(target, make_job(GOOD_CPP).data_dir, ahead=False) as pool:
        for source in (GOOD_CPP, GOOD_PYTHON, CPP.format("*(volatile int*)0 = 1;"), GOOD_CPP):
            document = run(make_job(source), pool)
            assert document["verdict"] == ("runtime_error" if "volatile" in source else "passed")
            assert pool.waiting is None


def test_other_bounds_get_a_sandbox_of_their_own(target: DeviceTarget, proved: Probe) -> None:
    stop = Stop(float("inf"), 1)
    plan = plan_for(target, "library", Bounds(), proved.usable())
    started: list[Child] = []

    def start(*arguments: Any) -> Child:
        started.append(Child(*arguments))
        return started[-1]

    sandboxes = Sandboxes(start)
    sandboxes.prepare(target, Bounds(), proved.usable())
    ahead = len(started)
    try:
        other = sandboxes.open(replace(plan, bounds=Bounds(processes=5)), stop)
        assert other is started[ahead]
        ready = sandboxes.open(plan, stop)
        assert ready in started[:ahead]
        assert sandboxes.open(plan, stop) is started[ahead + 1], "a sandbox serves once"
    finally:
        sandboxes.close()
        for child in started[ahead:]:
            child.close()
        ready.close()


def test_a_dead_sandbox_is_not_handed_out(target: DeviceTarget, proved: Probe) -> None:
    started: list[Child] = []

    def start(*arguments: Any) -> Child:
        started.append(Child(*arguments))
        return started[-1]

    sandboxes = Sandboxes(start)
    sandboxes.prepare(target, Bounds(), proved.usable())
    for child in started:
        child.kill()
        with pytest.raises(Died):
            _listen(child)
    ahead = len(started)
    child = sandboxes.open(plan_for(target, "library", Bounds(), proved.usable()), Stop(float("inf"), 1))
    try:
        assert child is started[ahead]
        assert child.expect("ready", 20, "Starting")["event"] == "ready"
    finally:
        child.close()
        sandboxes.close()


def _listen(child: Child) -> None:
    """What it said before it died comes first."""
    while True:
        child.receive(10, "Dying")
