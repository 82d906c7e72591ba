"""Every cheat through the real engine: caught or without gain, and its honest neighbour passes unflagged."""

from pathlib import Path

import pytest

from leaderboard.corpus.cases import Attempt, read_corpus
from leaderboard.corpus.judging import Outcome
from leaderboard.corpus.suite import accused, controls_of, run_all
from runners.contract.vocabulary import DeviceKind
from runners.devices import detect
from runners.sandbox.probe import Probe

ROOT = Path(__file__).parent
CORPUS = read_corpus(ROOT)
CHEATS = list(CORPUS.attempts_on(DeviceKind.CPU))
CONTROLS = controls_of(CORPUS, CHEATS)
Key = tuple[str, str, str]


def key(attempt: Attempt) -> Key:
    return attempt.name, attempt.expectation.task, attempt.expectation.mode


@pytest.fixture(scope="module")
def outcomes(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, proved: Probe
) -> dict[Key, Outcome]:
    """All selected attempts, run two at a time where nothing is timed."""
    selected = [
        item.callspec.params["attempt"]
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.module is request.module and hasattr(item, "callspec")
    ]
    folder = tmp_path_factory.mktemp("engine")
    return {key(outcome.attempt): outcome for outcome in run_all(CORPUS, selected, detect()[0], folder)}


@pytest.mark.corpus
@pytest.mark.sandbox
@pytest.mark.parametrize("attempt", CHEATS, ids=lambda attempt: attempt.name)
def test_cheat_is_caught(outcomes: dict[Key, Outcome], attempt: Attempt) -> None:
    assert outcomes[key(attempt)].faults == ()


@pytest.mark.corpus
@pytest.mark.sandbox
@pytest.mark.parametrize("attempt", CONTROLS, ids=lambda attempt: "-".join(key(attempt)))
def test_honest_neighbour_passes(outcomes: dict[Key, Outcome], attempt: Attempt) -> None:
    outcome = outcomes[key(attempt)]
    assert outcome.faults == ()
    assert not accused(outcome)


def test_every_row_of_the_catalogue_has_a_case() -> None:
    assert list(CORPUS.expectations) == [f"C{number:02}" for number in range(1, 54)]


def test_tests_that_cover_the_others_exist() -> None:
    repository = ROOT.parent.parent
    for case, wanted in CORPUS.expectations.items():
        if wanted.covered_by:
            path, _, function = wanted.covered_by.partition("::")
            assert f"def {function}(" in (repository / path).read_text(), case
