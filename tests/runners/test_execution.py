"""One evaluation from the queue to its stored verdict, in this process."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from pytest_django import Settings

from runners import execution
from runners.contract.job import DeviceTarget, Job
from runners.contract.limits import LIMITS, MAX_ATTEMPTS, limits_of
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import DeviceKind, Language, Mode
from runners.execution import RunnerContext
from runners.models import Device, Evaluation, Lane, Runner
from runners.services import evaluations, kernels
from runners.supervisor.client import SupervisorKilled
from tests.devices import own_cpu

pytestmark = pytest.mark.django_db


def run_one(runner: Runner) -> Evaluation:
    """Claims and runs the one evaluation that waits."""
    target = DeviceTarget(DeviceKind.CPU, 0, own_cpu().cores)
    assert execution.run_next("cpu-test", RunnerContext(runner, target))
    return Evaluation.objects.get()


@pytest.mark.sandbox
def test_output_that_postgresql_cannot_hold_is_stored_with_replacements(
    device: Device, spec: TaskSpec, make_runner: Callable[[], Runner]
) -> None:
    source = 'def kernel(x):\n    print("a\\0b", flush=True)\n    raise ValueError("c\\0d \\ud800")\n'
    evaluations.enqueue(
        kernel=kernels.store_kernel(language=Language.PYTHON, source=source),
        spec=kernels.store_spec(spec=spec),
        device=device,
        mode=Mode.TEST,
        lane=Lane.PERSON,
    )
    evaluation = run_one(make_runner())
    assert evaluation.verdict == "runtime_error", evaluation.reason
    assert evaluation.result["output"]["stdout"].startswith("a\ufffdb")
    assert "c\ufffdd" in evaluation.reason
    assert "\ufffd" in evaluation.progress["tests"][0]["message"]


def test_a_card_is_looked_after_in_the_name_of_its_runner(
    enqueue: Callable[..., Evaluation], make_runner: Callable[[], Runner], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    outcome = {"verdict": "timeout", "reason": "Took long.", "device_seconds": 1.0, "failed_stage": "verify"}
    monkeypatch.setattr(execution, "run_job", lambda *_, **__: outcome)
    monkeypatch.setattr(execution, "look_after", lambda **options: told.append(options))
    enqueue()
    runner = make_runner()
    run_one(runner)
    (options,) = told
    assert (options["runner"], options["verdict"], options["failed_stage"]) == (runner, "timeout", "verify")


def test_a_result_that_cannot_be_stored_ends_the_evaluation(
    enqueue: Callable[..., Evaluation], make_runner: Callable[[], Runner], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our own fault, whatever it will be: here, a NUL that got past the supervisor's client."""

    def broken(*args: Any, **callbacks: Any) -> Mapping[str, Any]:
        return {"verdict": "passed", "reason": "\0", "device_seconds": 1.0}

    enqueue()
    monkeypatch.setattr(execution, "run_job", broken)
    evaluation = run_one(make_runner())
    assert (evaluation.status, evaluation.verdict) == ("finished", "internal_error")
    assert "could not store" in evaluation.reason
    assert evaluation.device_seconds > 0


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize(
    ("ranked_tier", "weak", "ranked", "others"),
    [
        ("T2", False, "T2", "T1"),
        ("T0", False, "T1", "T1"),
        ("T0", True, "T0", "T0"),
        ("T2", True, "T2", "T0"),
    ],
)
def test_no_stranger_runs_below_t1_unless_a_setting_says_so(
    mode: Mode, ranked_tier: str, weak: bool, ranked: str, others: str, settings: Settings
) -> None:
    settings.REQUIRED_TIER, settings.ALLOW_WEAK_SANDBOX = ranked_tier, weak
    assert execution.required_tier(mode) == (ranked if mode == Mode.RANKED else others)


def test_every_job_names_the_tier_it_needs(
    enqueue: Callable[..., Evaluation], make_runner: Callable[[], Runner], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def note(job: Job, **callbacks: Any) -> Mapping[str, Any]:
        asked.append(job.required_tier)
        return {"verdict": "refused", "reason": "too weak", "device_seconds": 0.0}

    enqueue(mode=Mode.TEST)
    monkeypatch.setattr(execution, "run_job", note)
    run_one(make_runner())
    assert asked == ["T1"]


def test_a_killed_supervisor_costs_an_attempt_and_no_verdict(
    enqueue: Callable[..., Evaluation], make_runner: Callable[[], Runner], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time, until the last: what kills supervisors must not be tried for ever."""

    def killed(*args: Any, **callbacks: Any) -> Mapping[str, Any]:
        raise SupervisorKilled("no message")

    enqueue()
    monkeypatch.setattr(execution, "run_job", killed)
    runner = make_runner()
    for attempt in range(1, MAX_ATTEMPTS):
        evaluation = run_one(runner)
        assert (evaluation.status, evaluation.attempts, evaluation.runner) == ("queued", attempt, None)
    assert evaluation.device_seconds > 0
    evaluation = run_one(runner)
    assert (evaluation.status, evaluation.verdict) == ("finished", "internal_error")
    assert f"{MAX_ATTEMPTS} attempts" in evaluation.reason


def test_a_killed_supervisor_of_a_cancelled_evaluation_ends_it(
    enqueue: Callable[..., Evaluation], make_runner: Callable[[], Runner], monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*args: Any, **callbacks: Any) -> Mapping[str, Any]:
        assert evaluations.request_cancel(evaluation=Evaluation.objects.get())
        raise SupervisorKilled("no message")

    enqueue()
    monkeypatch.setattr(execution, "run_job", killed)
    evaluation = run_one(make_runner())
    assert (evaluation.status, evaluation.verdict) == ("finished", "cancelled")


def test_a_site_may_spend_less_time_on_timing() -> None:
    usual = LIMITS[Mode.RANKED]
    assert limits_of(Mode.RANKED, 100) == usual
    assert limits_of(Mode.RANKED, 20) == replace(usual, case_timing=usual.case_timing / 5)
