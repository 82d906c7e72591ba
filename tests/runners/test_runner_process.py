"""A real runner process on the real queue, killed and stopped in mid-evaluation."""

import signal
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest

from leaderboard.catalog.loader import CATALOG, load
from runners.contract.vocabulary import Language, Mode
from runners.models import Device, Evaluation, EvaluationStatus, Lane, Runner
from runners.services import devices, evaluations, kernels
from tests.processes import commands
from tests.waiting import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sandbox]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    with commands(tmp_path) as start_command:
        yield partial(start_command, KERNELHUB_BASELINES="no")


@pytest.fixture
def device(db: None) -> Device:
    """The CPU of this machine, registered and with ceilings, so that no runner calibrates first."""
    from runners.devices import detect

    (detected,) = [item for item in detect() if item.instance == "cpu"]
    device = devices.register_device(detected=detected)
    ceilings = {"copy_bytes_per_s": 1e10, "flops_per_s": {"float32": 1e11}}
    devices.store_ceilings(device=device, ceilings=ceilings)
    return device


def _enqueue(device: Device, source: str, mode: Mode = Mode.TEST) -> Evaluation:
    task = load(CATALOG / "softmax")
    return evaluations.enqueue(
        kernel=kernels.store_kernel(language=Language.PYTHON, source=source),
        spec=kernels.store_spec(spec=task.spec),
        device=device,
        mode=mode,
        lane=Lane.PERSON,
    )


GOOD = "import torch\n\ndef kernel(x):\n    return torch.softmax(x, dim=1)\n"
#: Correct, and long enough to be killed in the middle.
SLOW = "import time, torch\n\ndef kernel(x):\n    time.sleep(0.3)\n    return torch.softmax(x, dim=1)\n"


def _running(evaluation: Evaluation) -> bool:
    evaluation.refresh_from_db()
    return evaluation.status == EvaluationStatus.RUNNING and bool(evaluation.progress.get("tests"))


def _finished(evaluation: Evaluation) -> bool:
    evaluation.refresh_from_db()
    return evaluation.status == EvaluationStatus.FINISHED


def test_a_killed_runner_loses_nothing(device: Device, start: Callable[..., subprocess.Popen[bytes]]) -> None:
    evaluation = _enqueue(device, SLOW)
    runner = start("runner", "--device", "cpu")
    wait_for("the run's first test case", lambda: _running(evaluation))
    descendants = psutil.Process(runner.pid).children(recursive=True)
    assert descendants
    runner.kill()
    runner.wait()
    # The supervisor and everything under it must not outlive the runner.
    _, alive = psutil.wait_procs(descendants, timeout=60)
    assert not alive

    start("runner", "--device", "cpu")
    wait_for("the verdict", lambda: _finished(evaluation), seconds=60)
    assert (evaluation.verdict, evaluation.attempts) == ("passed", 2)


def test_the_sweeper_takes_over_when_no_runner_comes_back_at_once(
    device: Device, start: Callable[..., subprocess.Popen[bytes]]
) -> None:
    """The lease alone, without the new runner's own look for the dead: as if it ran on another host."""
    evaluation = _enqueue(device, SLOW)
    runner = start("runner", "--device", "cpu", KERNELHUB_LEASE_SECONDS="4", KERNELHUB_SWEEP_SECONDS="1")
    wait_for("the run's first test case", lambda: _running(evaluation))
    runner.kill()
    runner.wait()
    Runner.objects.update(host="elsewhere")
    start("worker", KERNELHUB_LEASE_SECONDS="4", KERNELHUB_SWEEP_SECONDS="1")

    def queued_again() -> bool:
        evaluation.refresh_from_db()
        return evaluation.status == EvaluationStatus.QUEUED

    wait_for("the row to be queued again", queued_again)
    start("runner", "--device", "cpu")
    wait_for("the verdict", lambda: _finished(evaluation))
    assert (evaluation.verdict, evaluation.attempts) == ("passed", 2)


def test_a_killed_nursery_costs_one_attempt(
    device: Device, start: Callable[..., subprocess.Popen[bytes]]
) -> None:
    """Its supervisor dies with it; the same runner takes the evaluation up again."""
    evaluation = _enqueue(device, SLOW)
    runner = start("runner", "--device", "cpu")
    wait_for("the run's first test case", lambda: _running(evaluation))
    below = psutil.Process(runner.pid).children()
    nurseries = [process for process in below if "runners.supervisor.nursery" in process.cmdline()]
    supervisors = [process for process in below if "runners.supervisor" in process.cmdline()]
    assert nurseries or supervisors  # the first job of a runner may come before its nursery has loaded
    for process in nurseries + supervisors:
        process.kill()
    wait_for("the verdict", lambda: _finished(evaluation), seconds=60)
    assert (evaluation.verdict, evaluation.attempts) == ("passed", 2)


def test_a_stopped_runner_gives_its_work_back(
    device: Device, start: Callable[..., subprocess.Popen[bytes]]
) -> None:
    evaluation = _enqueue(device, SLOW)
    runner = start("runner", "--device", "cpu")
    wait_for("the run's first test case", lambda: _running(evaluation))
    descendants = psutil.Process(runner.pid).children(recursive=True)
    runner.send_signal(signal.SIGTERM)
    assert runner.wait(timeout=60) == 0
    _, alive = psutil.wait_procs(descendants, timeout=60)
    assert not alive, "the nursery, or what was started ahead, outlived its runner"
    evaluation.refresh_from_db()
    assert (evaluation.status, evaluation.attempts) == (EvaluationStatus.QUEUED, 0)
    assert not Runner.objects.filter(stopped_at=None).exists()


def test_cancelling_a_running_evaluation(
    device: Device, start: Callable[..., subprocess.Popen[bytes]]
) -> None:
    evaluation = _enqueue(device, SLOW)
    start("runner", "--device", "cpu")
    wait_for("the run's first test case", lambda: _running(evaluation))
    assert evaluations.request_cancel(evaluation=evaluation)
    wait_for("the verdict", lambda: _finished(evaluation))
    assert evaluation.verdict == "cancelled"


def test_a_second_runner_of_the_same_device_is_refused(
    device: Device, start: Callable[..., subprocess.Popen[bytes]]
) -> None:
    evaluation = _enqueue(device, GOOD)
    start("runner", "--device", "cpu")
    wait_for("the first runner's verdict", lambda: _finished(evaluation))
    assert start("runner", "--device", "cpu").wait(timeout=60) == 1
