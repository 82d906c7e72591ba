"""Verifiers' records over runs: counted once per measured kernel, kept apart, and obeyed by later runs."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from leaderboard.search.llm.models import VerifierRecord
from leaderboard.search.llm.records import records_of_model, standings_of
from leaderboard.search.llm.votes import Record, Verifier
from leaderboard.search.models import SearchRun, StopReason
from leaderboard.search.services import outcomes
from runners.models import Device, Evaluation, Runner
from tests.fake_claude import FakeClaude
from tests.search_llm.conftest import HAIKU, SONNET
from tests.search_llm.test_runs import access, finish_all, start, stepper_of  # noqa: F401  fixtures
from tests.search_llm.test_verifiers import Reader

pytestmark = pytest.mark.django_db(transaction=True)
Start = Callable[..., SearchRun]
COMPILE = Verifier.COMPILE


@pytest.fixture(autouse=True)
def _whole_kernels(server: FakeClaude, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaderboard.search.llm.moves._WEIGHTS", {"rewrite": 1.0})
    server.responder = Reader()


def searched(run: SearchRun, server: FakeClaude, runner: Runner, device: Device) -> SearchRun:
    stepper = stepper_of(run, server)
    while stepper.step():
        finish_all(runner, device)
    run.refresh_from_db()
    assert run.stop_reason == StopReason.MEASUREMENTS
    return run


def test_outcomes_add_to_the_record_once_each(
    client: Client,
    start: Start,  # noqa: F811
    server: FakeClaude,
    runner: Runner,
    device: Device,
) -> None:
    searched(start(measurements=5, verifiers=HAIKU), server, runner, device)
    first = records_of_model(HAIKU, "softmax")[COMPILE]
    assert (first.warned, first.right, first.due, first.caught) == (2, 2, 2, 2)
    for evaluation in Evaluation.objects.all():
        outcomes.record(evaluation=evaluation)  # a second telling
    assert records_of_model(HAIKU, "softmax")[COMPILE] == first
    server.responder = Reader()
    run = searched(start(measurements=3, verifiers=HAIKU), server, runner, device)
    both = records_of_model(HAIKU, "softmax")[COMPILE]
    assert both.warned > first.warned
    # The run's page tells it.
    client.force_login(run.user)
    page = client.get(f"/searches/{run.pk}/").content.decode()
    assert "Verifiers" in page
    assert f"that {HAIKU} has read" in page
    standing = {item.verifier: item for item in standings_of(run)}[COMPILE]
    assert (standing.record, standing.is_obeyed) == (both, False)
    assert standing.floor == pytest.approx(0.05 ** (1 / both.warned))
    # Another model, another task: another record.
    assert records_of_model(SONNET, "softmax")[COMPILE] == records_of_model(HAIKU, "matmul")[COMPILE]
    assert records_of_model(SONNET, "softmax")[COMPILE] == Record()


@pytest.mark.parametrize(("counted", "refuses"), [(28, False), (29, True)])
def test_a_later_run_refuses_on_a_record_that_justifies_it(
    start: Start,  # noqa: F811
    server: FakeClaude,
    runner: Runner,
    device: Device,
    monkeypatch: pytest.MonkeyPatch,
    counted: int,
    refuses: bool,
) -> None:
    """29 of 29 is the first clean record whose precision is 90 % with 95 % confidence."""
    monkeypatch.setattr("leaderboard.search.llm.sitting.AUDITED", 0.0)
    VerifierRecord.objects.create(
        verifier="compile", model=HAIKU, family="softmax", warned=counted, right=counted
    )
    run = searched(start(measurements=2, verifiers=HAIKU), server, runner, device)
    verdicts: list[Any] = list(
        run.candidates.filter(number__gt=0).values_list("evaluation__verdict", flat=True)
    )
    assert verdicts == (["passed"] if refuses else ["compile_error"])
    faults = run.llm_entries.filter(kind="used", document__fault="vetoed").count()
    assert faults == (1 if refuses else 0)
