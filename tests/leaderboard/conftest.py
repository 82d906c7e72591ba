"""The fixed cast and a small task. Owner has submissions, outsider has none of them, staff may see all."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.utils import timezone
from rest_framework.test import APIClient

from leaderboard.catalog.loader import CatalogTask
from leaderboard.models import Audit, Score, Submission, Task, TaskVersion
from leaderboard.selectors import boards
from leaderboard.services import submissions, tasks, tokens
from runners.contract.parse import parse_task
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import DeviceKind, Verdict
from runners.models import Device, Evaluation, EvaluationStatus, Runner
from runners.services import evaluations

REFERENCE = "def reference(x):\n    return x * 2\n"
PYTHON = "def kernel(x):\n    return x * 2\n"
CPP = 'extern "C" void kernel(const float* x, float* y, long n) { y[0] = 2 * x[n - 1]; }\n'


def task_document(**changes: Any) -> dict[str, Any]:
    case = {"n": 1000, "fits_in_cache": "a test"}
    return {
        "sizes": ["n"],
        "inputs": [{"name": "x", "dtype": "float32", "shape": ["n"]}],
        "outputs": [{"name": "y", "dtype": "float32", "shape": ["n"]}],
        "tolerance": {"float32": {"atol": 0.0, "rtol": 1e-6}},
        "languages": ["python", "cpp"],
        "cost": {"bytes": "8 * n", "flops": "n", "dtype": "float32"},
        "cases": {"cpu": {"test": [{"n": 5}], "benchmark": [case, {**case, "n": 2000}]}},
    } | changes


def catalog_task(slug: str = "double", reference: str = REFERENCE, **changes: Any) -> CatalogTask:
    spec = parse_task(slug, task_document(**changes), reference)
    return CatalogTask(slug, "Double", "Twice the input.", 1, "# Double\n", {"python": PYTHON}, spec, (), ())


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Any) -> None:
    """The real hasher takes a third of a second by intent."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_user("owner", password="owner-password")


@pytest.fixture
def outsider(db: None) -> User:
    return User.objects.create_user("outsider", password="outsider-password")


@pytest.fixture
def staff(db: None) -> User:
    return User.objects.create_user("staff", password="staff-password", is_staff=True)


@pytest.fixture
def task(db: None) -> Task:
    tasks.load_task(source=catalog_task())
    return Task.objects.get(slug="double")


@pytest.fixture
def version(task: Task) -> TaskVersion:
    return task.versions.select_related("task", "spec").get(is_current=True)


@pytest.fixture
def spec(version: TaskVersion) -> TaskSpec:
    return TaskSpec.from_document(version.spec.document)


@pytest.fixture
def device(db: None) -> Device:
    return Device.objects.create(slug="cpu-test", kind=DeviceKind.CPU, name="a test CPU")


@pytest.fixture
def gpu(db: None) -> Device:
    return Device.objects.create(slug="gpu-test", kind=DeviceKind.CUDA, name="a test GPU")


@pytest.fixture
def runner(device: Device) -> Runner:
    return Runner.objects.create(device=device, host="here", pid=1, tier="T2", heartbeat_at=timezone.now())


@pytest.fixture
def submit(task: Task, device: Device) -> Callable[..., Submission]:
    """A submission to the small task, changed by keywords."""

    def make(user: User, **changes: Any) -> Submission:
        values = {
            "task_slug": task.slug,
            "device_slug": device.slug,
            "language": "python",
            "mode": "ranked",
            "source": PYTHON,
        }
        return submissions.submit(user=user, **{**values, **changes})

    return make


def result_document(
    seconds: float = 1e-3, *, width: float = 0.01, cases: tuple[float, ...] = (), **changes: Any
) -> dict[str, Any]:
    """What a runner stores for a run that passed; ``width`` is half the interval's, relative."""
    timings = [
        {
            "case": f"cpu-benchmark-{n}",
            "description": f"n={n}",
            "status": "passed",
            "seconds": value,
            "ci_low": value * (1 - width),
            "ci_high": value * (1 + width),
            "floor_seconds": value / 2,
        }
        for n, value in zip((1000, 2000), cases or (seconds, seconds), strict=True)
    ]
    return {
        "verdict": Verdict.PASSED,
        "reason": "",
        "device_seconds": 12.5,
        "benchmarks": timings,
        "score": {
            "seconds": seconds,
            "ci_low": seconds * (1 - width),
            "ci_high": seconds * (1 + width),
            "roofline": 0.5,
        },
    } | changes


def finish_evaluation(runner: Runner, evaluation: Evaluation, result: dict[str, Any]) -> None:
    """Run an evaluation to its end through the same services as a runner; those before it stay taken."""
    while evaluation.status != EvaluationStatus.RUNNING:
        claimed = evaluations.claim_next(queue=evaluation.queue, runner=runner)
        assert claimed is not None
        if claimed.pk == evaluation.pk:
            evaluation = claimed
    assert evaluations.finish(evaluation=evaluation, result=result)


@pytest.fixture
def finish(runner: Runner) -> Callable[..., Submission]:
    """Run a submission to its end, and unless ``audit`` is false its audit, if one is due, to the same."""

    def make(
        submission: Submission, seconds: float = 1e-3, *, audit: bool = True, **changes: Any
    ) -> Submission:
        finish_evaluation(runner, submission.evaluation, result_document(seconds, **changes))
        if audit and (due := Audit.objects.filter(submission=submission).first()):
            finish_evaluation(runner, due.evaluation, result_document(seconds, **changes))
        return Submission.objects.select_related("evaluation").get(pk=submission.pk)

    return make


@pytest.fixture
def fresh_throttles() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def api(fresh_throttles: None) -> APIClient:
    return APIClient()


@pytest.fixture
def as_owner(owner: User, fresh_throttles: None) -> APIClient:
    client = APIClient()
    client.force_login(owner)
    return client


def with_token(user: User, *scopes: str) -> APIClient:
    _, text = tokens.create(user=user, name="mine", scopes=scopes)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    return client


def entry(**changes: Any) -> dict[str, Any]:
    return {"task": "double", "device": "cpu-test", "language": "python", "source": PYTHON} | changes


@pytest.fixture
def rows(version: TaskVersion, device: Device) -> Callable[[], list[tuple[int | None, str | None, str]]]:
    def read() -> list[tuple[int | None, str | None, str]]:
        found = boards.board(version, device).rows
        return [(row.rank, row.username, row.standing) for row in found]

    return read


@pytest.fixture
def end_audit(runner: Runner) -> Callable[..., Score]:
    """Finish the audit's newest run of a submission; its score."""

    def make(submission: Submission, seconds: float = 1e-3, **changes: Any) -> Score:
        audit = Audit.objects.get(submission=submission)
        finish_evaluation(runner, audit.evaluation, result_document(seconds, **changes))
        return Score.objects.get(submission=submission)

    return make
