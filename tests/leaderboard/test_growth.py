"""What pages ask on every visit is read from indexes, not from all there ever was."""

import json
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.models import Submission
from leaderboard.selectors import estimates, tasks


def plan_of(ask: Callable[[], object]) -> str:
    """The plan of the one query of ``ask`` where tables are too large to be read through and sorted."""
    with CaptureQueriesContext(connection) as asked:
        ask()
    (query,) = asked.captured_queries
    with connection.cursor() as cursor:
        for way in ("seqscan", "bitmapscan", "sort"):
            cursor.execute(f"SET LOCAL enable_{way} = off")
        cursor.execute("EXPLAIN (FORMAT JSON) " + query["sql"])
        return json.dumps(cursor.fetchone())


@pytest.fixture
def _scores(submit: Callable[..., Submission], finish: Callable[..., Submission], owner: User) -> None:
    for seconds in (3e-3, 2e-3):
        finish(submit(owner), seconds)


@pytest.mark.usefixtures("_scores")
def test_waits_are_told_from_an_index_of_lately_finished_runs() -> None:
    plan = plan_of(lambda: estimates.usual_seconds(["cpu-test"]))
    assert "evaluation_lately" in plan


@pytest.mark.usefixtures("_scores")
def test_records_are_found_from_the_newest_on() -> None:
    plan = plan_of(tasks.records)
    assert "score_newest" in plan
    assert "WindowAgg" not in plan
