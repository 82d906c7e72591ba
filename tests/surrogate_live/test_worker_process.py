"""The real process on the real queue: it forecasts, and when it is killed nothing waits for it."""

import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from leaderboard.models import Baseline, Submission
from leaderboard.services import baselines
from runners.contract.vocabulary import Verdict
from runners.devices import cores_beside
from runners.models import Device, Runner
from surrogate.desk import QUICK
from surrogate.live import worker_status
from surrogate.models import Anchor, Forecast, Outcome, Question
from tests.leaderboard.conftest import finish_evaluation, result_document
from tests.processes import commands
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def worker(
    tmp_path: Path, task: object, monkeypatch: pytest.MonkeyPatch
) -> Iterator["subprocess.Popen[bytes]"]:
    cache.clear()
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with commands(tmp_path) as start:
        yield start("surrogate")


def test_a_killed_worker_costs_forecasts_and_nothing_else(
    worker: "subprocess.Popen[bytes]",
    client: Client,
    submit: Callable[..., Submission],
    owner: User,
    device: Device,
    runner: Runner,
) -> None:
    baselines.enqueue_missing(device)
    eager = Submission.objects.get(baseline=Baseline.EAGER)
    finish_evaluation(runner, eager.evaluation, result_document(4e-3))
    assert Anchor.objects.get().seconds == 4e-3

    forecast = submit(owner)
    wait_for("a forecast", lambda: Forecast.objects.filter(is_shown=True, document__isnull=False).exists())
    finish_evaluation(runner, forecast.evaluation, result_document(2e-3))
    assert Outcome.objects.get(evaluation=forecast.evaluation).log2_ratio == pytest.approx(1.0)
    status = wait_for(
        "what it lacks", lambda: (told := worker_status()) and told.problems.get("local") and told
    )
    assert set(status.members) == set(QUICK)
    assert "fetch_model" in status.problems["local"]
    assert "ANTHROPIC_API_KEY" in status.problems["anthropic"]

    worker.send_signal(signal.SIGKILL)
    worker.wait()
    lost = submit(owner, source="def kernel(x):\n    return 2 * x\n")
    finish_evaluation(runner, lost.evaluation, result_document(1e-3))
    lost.evaluation.refresh_from_db()
    assert lost.evaluation.verdict == Verdict.PASSED
    assert Question.objects.get(evaluation=lost.evaluation).closed_at is None
    # What it measured is known all the same, and every page answers.
    assert Outcome.objects.get(evaluation=lost.evaluation).log2_ratio == pytest.approx(2.0)
    client.force_login(owner)
    for path in (f"/submissions/{lost.pk}/", "/tasks/double/", "/surrogate/", f"/surrogate/{device.slug}/"):
        assert client.get(path).status_code == 200


def test_a_worker_stays_off_measured_cores_and_ends_at_once(worker: "subprocess.Popen[bytes]") -> None:
    wait_for("the worker", worker_status)
    process = psutil.Process(worker.pid)
    assert tuple(process.cpu_affinity()) == cores_beside()
    assert process.nice() >= 10
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=60) == 0
