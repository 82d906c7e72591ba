"""Every CUDA submission of known verdict, in this process, where there is an NVIDIA GPU.

Ours alone are loaded, so no sandbox is needed. A fault in one of them spoils the GPU's context for those that
follow: the first failure is the one to look at.
"""

import shutil
from pathlib import Path

import pytest
import torch

from leaderboard.catalog.loader import CATALOG, STARTER_FILES, CatalogTask, load_all
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import CaseRole, DeviceKind, Language
from tests.catalog import trial

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no NVIDIA GPU"),
    pytest.mark.filterwarnings("default"),
]

_NVCC = shutil.which("nvcc")


def _submissions(kind: str) -> list[object]:
    return [
        pytest.param(task, item.language, item.path, id=f"{task.slug}-{item.path.name}")
        for task in load_all()
        for item in getattr(task, kind)
        if DeviceKind.CUDA in item.device_kinds
    ]


def _starters() -> list[object]:
    keys = {"python": Language.PYTHON, "python-cuda": Language.PYTHON, "cuda": Language.CUDA}
    return [
        pytest.param(
            task, keys[key], CATALOG / task.slug / "starter" / STARTER_FILES[key], id=f"{task.slug}-{key}"
        )
        for task in load_all()
        for key in task.starters
        if key in keys
    ]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("build")


def errors(spec: TaskSpec, language: Language, path: Path, build: Path) -> dict[str, float]:
    """The largest error of each test case, in multiples of the tolerance."""
    if language == Language.CUDA and _NVCC is None:
        pytest.skip("nvcc is not installed")
    kernel = trial.load(language, path, build)
    found = {}
    for case in spec.cases_for(DeviceKind.CUDA, CaseRole.TEST):
        inputs = tuple(item.cuda() for item in trial.inputs_of(spec, case))
        want = trial.wanted(spec, case, inputs)
        found[case.name] = trial.excess(spec, kernel(spec, case, inputs), want)
    return found


@pytest.mark.parametrize(("task", "language", "path"), [*_submissions("good"), *_starters()])
def test_good_submission_passes(task: CatalogTask, language: Language, path: Path, build: Path) -> None:
    failed = {name: error for name, error in errors(task.spec, language, path, build).items() if error > 1}
    assert not failed


@pytest.mark.parametrize(("task", "language", "path"), _submissions("wrong"))
def test_wrong_submission_fails(task: CatalogTask, language: Language, path: Path, build: Path) -> None:
    assert max(errors(task.spec, language, path, build).values()) > 1
