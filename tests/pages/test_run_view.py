"""A run as the page draws it, from its stored documents alone."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from leaderboard.models import Submission
from leaderboard.selectors.submissions import QueuePlace
from leaderboard.views.run import run_of
from runners.models import Evaluation, Runner


def submission(mode: str = "ranked", **changes: Any) -> Submission:
    return Submission(mode=mode, evaluation=Evaluation(mode=mode, **changes))


def test_a_waiting_run_shows_its_place_and_every_stage_to_come() -> None:
    run = run_of(submission(status="queued"), QueuePlace(3, 40.0))
    assert [stage.status for stage in run.stages] == ["waiting"] * 4
    assert run.sentence == "Queued, place 3"
    assert not run.is_finished


def test_a_wait_behind_ranked_runs_is_told_with_its_doubt(
    submit: Callable[..., Submission], owner: User, runner: Runner, client: Client
) -> None:
    client.force_login(owner)
    for mode, grows in (("test", False), ("ranked", True)):
        submit(owner, mode=mode)
        waiting = submit(owner, mode="test")
        for address in (f"/submissions/{waiting.pk}/", "/devices/", "/tasks/double/submit/"):
            html = client.get(address).content.decode()
            assert ("longer if audits are repeated" in html) is grows, address


def test_a_running_one_says_where_it_is() -> None:
    progress = {
        "stages": [{"stage": "screen", "status": "passed"}, {"stage": "verify", "status": "started"}],
        "plan": {"tests": 9, "benchmarks": 3},
        "tests": [{"case": "a", "status": "passed"}],
        "benchmarks": [],
        "activity": "testing n=5",
    }
    run = run_of(submission(status="running", progress=progress))
    assert [stage.status for stage in run.stages] == ["passed", "waiting", "started", "waiting"]
    assert run.sentence == "Running, verify, 1 of 9 tests"
    assert (run.tests_planned, run.benchmarks_planned, run.activity) == (9, 3, "testing n=5")


@pytest.mark.parametrize(("verdict", "status"), [("cancelled", "skipped"), ("internal_error", "failed")])
def test_a_stage_that_was_under_way_when_the_run_was_ended_does_not_seem_to_go_on(
    verdict: str, status: str
) -> None:
    progress = {"stages": [{"stage": "screen", "status": "started"}], "activity": "compiling"}
    run = run_of(submission(status="finished", verdict=verdict, progress=progress, reason="Ended."))
    assert [stage.status for stage in run.stages] == [status, "skipped", "skipped", "skipped"]
    assert run.activity == ""
    assert run.sentence.endswith("Ended.")


@pytest.mark.parametrize(
    ("mode", "verdict", "words"),
    [
        ("test", "passed", "Tests passed. Choose Ranked to get a time and a place."),
        ("check", "passed", "It compiles."),
        ("test", "wrong", ""),
        ("ranked", "passed", ""),
    ],
)
def test_a_passed_run_without_a_place_says_what_leads_to_one(mode: str, verdict: str, words: str) -> None:
    step = run_of(submission(mode, status="finished", verdict=verdict, result={})).next_step
    assert step.startswith(words)
    assert bool(step) == bool(words)


def test_failed_cases_come_first_and_from_both_kinds() -> None:
    result = {
        "tests": [{"case": "a", "status": "passed"}, {"case": "b", "status": "failed"}],
        "benchmarks": [{"case": "c", "status": "error"}, {"case": "d", "status": "passed"}],
    }
    run = run_of(submission(status="finished", verdict="wrong", result=result))
    assert [case["case"] for case in run.failed_cases] == ["b", "c"]
    assert run.tests_passed == 1


def test_an_ended_run_says_how_many_tests_were_not_run_and_shows_no_times_to_come(
    submit: Callable[..., Submission], owner: User, client: Client
) -> None:
    found = submit(owner, is_public=True)
    tests = [{"case": "a", "status": "passed"}, {"case": "b", "status": "failed"}]
    progress = {"plan": {"tests": 9, "benchmarks": 3}, "tests": tests}
    ended = {"verdict": "wrong", "result": {"tests": tests}, "finished_at": datetime.now(UTC)}
    for changes, not_run, times in (
        ({"status": "queued"}, 0, True),
        ({"status": "finished", **ended}, 7, False),
    ):
        Evaluation.objects.filter(pk=found.evaluation_id).update(progress=progress, **changes)
        html = client.get(f"/submissions/{found.pk}/").content.decode()
        assert (f'<span class="number">{not_run}</span> not run' in html) == bool(not_run)
        assert (">Times</h2>" in html) == times


def test_the_roofline_is_the_floor_over_the_time() -> None:
    timing = {"case": "a", "status": "passed", "seconds": 2e-3, "floor_seconds": 1e-3}
    for floor, share in ((1e-3, 0.5), (None, None)):
        result = {"benchmarks": [{**timing, "floor_seconds": floor}]}
        run = run_of(submission(status="finished", verdict="passed", result=result))
        assert run.benchmarks[0].roofline == share


def test_a_cancel_under_way_is_told() -> None:
    run = run_of(submission(status="running", cancel_requested_at=datetime.now(UTC)))
    assert run.cancelling


def test_stages_beyond_the_mode_are_shown_too() -> None:
    result = {"stages": [{"stage": "profile", "status": "passed", "seconds": 1.0}]}
    run = run_of(submission("test", status="finished", verdict="passed", result=result))
    assert [stage.label for stage in run.stages] == ["Screen", "Compile", "Verify", "Profile"]
