"""The cast and the small task of the leaderboard tests, with its reference measured."""

from collections.abc import Callable

import pytest

from leaderboard.models import Baseline, Submission, TaskVersion
from leaderboard.services import baselines
from runners.models import Device, Runner
from surrogate.desk import Desk
from surrogate.models import Anchor
from tests.leaderboard.conftest import (  # noqa: F401 - fixtures
    _quick_passwords,
    device,
    finish,
    finish_evaluation,
    gpu,
    outsider,
    owner,
    result_document,
    runner,
    spec,
    staff,
    submit,
    task,
    version,
)


@pytest.fixture
def anchor(
    version: TaskVersion,  # noqa: F811
    device: Device,  # noqa: F811
    runner: Runner,  # noqa: F811
    django_capture_on_commit_callbacks: Callable[..., object],
) -> Anchor:
    """The eager reference, measured at 4 ms. Its torch.compile form stays in the queue."""
    baselines.enqueue_missing(device)
    eager = Submission.objects.get(baseline=Baseline.EAGER)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[attr-defined]
        finish_evaluation(runner, eager.evaluation, result_document(4e-3))
    return Anchor.objects.get()


@pytest.fixture
def desk(db: None) -> Desk:
    """Forecasters that have learned what there is."""
    made = Desk()
    made.learn()
    return made
