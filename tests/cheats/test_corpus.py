"""Every cheat through the real engine: caught or without gain, and its honest neighbour passes unflagged."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from leaderboard.corpus.cases import Attempt, Corpus, read_corpus
from leaderboard.corpus.judging import run_attempt
from leaderboard.corpus.suite import ACCUSATIONS, accused, controls_of
from runners.backends.cuda.backend import CudaBackend
from runners.backends.cuda.toolchain import Toolchain
from runners.contract.vocabulary import DeviceKind, Language, Mode, Verdict
from runners.devices import DetectedDevice
from runners.supervisor.pool import WarmPool
from tests.devices import own_cpu

ROOT = Path(__file__).parent
CORPUS = read_corpus(ROOT)
CHEATS = list(CORPUS.attempts_on(DeviceKind.CPU))
CONTROLS = controls_of(CORPUS, CHEATS)
ON_A_GPU = list(CORPUS.attempts_on(DeviceKind.CUDA))
#: One of each text for nvcc; those that are compiled and no more are judged by tests/engine_cuda.
CUDA_TEXTS = {
    item.path: item
    for item in [*ON_A_GPU, *controls_of(CORPUS, ON_A_GPU)]
    if item.language == Language.CUDA and item.expectation.mode != Mode.CHECK
}
#: Of the cheats in Python, those that do what only Python can. They run with the rest of the suite, as do all
#: compiled ones, which take tenths of a second. What needs a clock, and the others, are `make corpus`.
IN_PYTHON = {"C03/subclass.py", "C06/forges.py", "C16/smaller.py", "C31/frames.py", "C43/inherits.py"}


def is_core(attempt: Attempt) -> bool:
    quick = attempt.language == Language.CPP or attempt.name in IN_PYTHON
    return quick and attempt.expectation.mode == Mode.TEST


def neighbours_core(control: Attempt) -> bool:
    """Whether a cheat of the core is held against it."""
    wanted = control.expectation
    return any(
        (cheat.expectation.control, cheat.expectation.task, cheat.expectation.mode)
        == (control.path.name, wanted.task, wanted.mode)
        for cheat in filter(is_core, CHEATS)
    )


def parameters(attempts: Sequence[Attempt], core: Callable[[Attempt], bool]) -> list[object]:
    """Those that are timed share a group, so that no two are at once."""
    found = []
    for item in attempts:
        wanted = item.expectation
        marks = [] if core(item) else [pytest.mark.corpus]
        if wanted.mode != Mode.TEST:
            marks.append(pytest.mark.xdist_group("clock"))
        found.append(pytest.param(item, id=f"{item.name}-{wanted.task}-{wanted.mode}", marks=marks))
    return found


@pytest.mark.sandbox
@pytest.mark.parametrize("attempt", parameters(CHEATS, is_core))
def test_cheat_is_caught(attempt: Attempt, supervisors: WarmPool, engine_data: Path) -> None:
    assert run_attempt(CORPUS, attempt, own_cpu(), engine_data, pool=supervisors).faults == ()


@pytest.mark.sandbox
@pytest.mark.parametrize("attempt", parameters(CONTROLS, neighbours_core))
def test_honest_neighbour_passes(attempt: Attempt, supervisors: WarmPool, engine_data: Path) -> None:
    outcome = run_attempt(CORPUS, attempt, own_cpu(), engine_data, pool=supervisors)
    assert outcome.faults == ()
    assert not accused(outcome)


def test_the_core_names_cheats_that_exist() -> None:
    assert {attempt.name for attempt in CHEATS} >= IN_PYTHON


def test_every_row_of_the_catalogue_has_a_case() -> None:
    assert list(CORPUS.expectations) == [f"C{number:02}" for number in range(1, 54)]


@pytest.mark.parametrize("corpus", [CORPUS, read_corpus(ROOT.parent / "attacks", tasks=ROOT)])
def test_tests_that_cover_the_others_exist(corpus: Corpus) -> None:
    repository = ROOT.parent.parent
    covered = {case: wanted.covered_by for case, wanted in corpus.expectations.items() if wanted.covered_by}
    assert covered
    for case, name in covered.items():
        path, _, function = name.partition("::")
        assert f"def {function}(" in (repository / path).read_text(), case


@pytest.mark.parametrize("corpus", [CORPUS, read_corpus(ROOT.parent / "attacks", tasks=ROOT)])
def test_those_for_a_gpu_are_python_too(corpus: Corpus) -> None:
    """They run on a GPU alone, where a slip of the pen would be found late."""
    found = [item for item in corpus.attempts_on(DeviceKind.CUDA) if item.path.suffix == ".py"]
    assert found
    for attempt in found:
        compile(attempt.path.read_text(), attempt.name, "exec")


@pytest.mark.sandbox
@pytest.mark.corpus
@pytest.mark.parametrize("attempt", CUDA_TEXTS.values(), ids=lambda item: f"{item.case}/{item.path.name}")
def test_those_for_a_gpu_compile(attempt: Attempt, engine_data: Path, tools: Toolchain) -> None:
    wanted = replace(attempt.expectation, mode=Mode.CHECK, expected=(Verdict.PASSED,), reason="", printed=())
    wanted = replace(wanted, least_floor=0.0, least_of_control=0.0, nondeterministic=False, overlapping=False)
    hopper = DetectedDevice("hopper", DeviceKind.CUDA, "Hopper", 0, (), {"compute_capability": "9.0"})
    assert run_attempt(CORPUS, replace(attempt, expectation=wanted), hopper, engine_data).faults == ()


@pytest.mark.parametrize("name", [path.name for path in sorted((ROOT / "honest").glob("*.cu"))])
def test_no_text_for_a_gpu_that_is_honest_accuses(name: str) -> None:
    """Without a GPU, so that a rule that accuses the wrong ones is found at once."""
    text = (ROOT / "honest" / name).read_text()
    found = CudaBackend().screen(text, CORPUS.specs["affine-cuda"])
    assert not {finding["rule"] for finding in found} & ACCUSATIONS
