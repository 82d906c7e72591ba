"""Every cheat through the real engine: caught or without gain, and its honest neighbour passes unflagged."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from leaderboard.corpus.cases import Attempt, Corpus, read_corpus
from leaderboard.corpus.judging import run_attempt
from leaderboard.corpus.suite import accused, controls_of
from runners.contract.vocabulary import DeviceKind, Language, Mode
from tests.devices import own_cpu
from runners.supervisor.pool import WarmPool

ROOT = Path(__file__).parent
CORPUS = read_corpus(ROOT)
CHEATS = list(CORPUS.attempts_on(DeviceKind.CPU))
CONTROLS = controls_of(CORPUS, CHEATS)
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
