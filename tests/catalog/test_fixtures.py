"""Every CPU submission of known verdict through the real engine: sandbox, compiler, oracle and all."""

from pathlib import Path

import pytest

from leaderboard.catalog.loader import CatalogTask, Fixture, load_all
from runners.contract.job import DeviceTarget, Job
from runners.contract.result import ResultDocument
from runners.contract.vocabulary import DeviceKind, Language, Mode, Stage, Verdict
from runners.supervisor.client import run_job
from runners.supervisor.pool import WarmPool
from tests.devices import own_cpu

pytestmark = pytest.mark.sandbox


#: Of these tasks the Python submissions are run with the rest of the suite. Those of the others do the same
#: on other shapes, and test_tasks.py has their verdicts without a sandbox: `make corpus` runs them.
CORE = {"attention", "softmax", "sum"}


def _on_cpu(kind: str) -> list[object]:
    return [
        pytest.param(
            task,
            fixture,
            id=f"{task.slug}-{fixture.path.name}",
            marks=() if task.slug in CORE or fixture.language != Language.PYTHON else pytest.mark.corpus,
        )
        for task in load_all()
        for fixture in getattr(task, kind)
        if DeviceKind.CPU in fixture.device_kinds
    ]


@pytest.fixture(scope="module")
def target() -> DeviceTarget:
    cpu = own_cpu()
    return DeviceTarget(cpu.kind, 0, cpu.cores, cpu.facts)


def evaluate(
    task: CatalogTask, fixture: Fixture, target: DeviceTarget, engine_data: Path, supervisors: WarmPool
) -> ResultDocument:
    name = f"{task.slug}/{fixture.path.name}"
    job = Job(name, task.spec, fixture.language, fixture.source(), Mode.TEST, target, str(engine_data))
    return run_job(job, on_event=lambda event: None, should_stop=lambda: False, pool=supervisors)


@pytest.mark.parametrize(("task", "fixture"), _on_cpu("good"))
def test_good_submission_passes(
    task: CatalogTask, fixture: Fixture, target: DeviceTarget, engine_data: Path, supervisors: WarmPool
) -> None:
    document = evaluate(task, fixture, target, engine_data, supervisors)
    assert document["verdict"] == Verdict.PASSED, document["reason"]
    assert all(case["status"] == "passed" for case in document["tests"])


@pytest.mark.parametrize(("task", "fixture"), _on_cpu("wrong"))
def test_wrong_submission_fails_in_verification(
    task: CatalogTask, fixture: Fixture, target: DeviceTarget, engine_data: Path, supervisors: WarmPool
) -> None:
    document = evaluate(task, fixture, target, engine_data, supervisors)
    assert document["verdict"] == fixture.verdict, document["reason"]
    assert document["failed_stage"] == Stage.VERIFY
    assert any(case["status"] == "failed" for case in document["tests"])
