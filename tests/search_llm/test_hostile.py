"""Replies that are no reply of a sane model: a run takes them as faults, and goes on."""

import json
from typing import Any

import pytest

from leaderboard.search.llm.models import JournalEntry
from leaderboard.search.models import RunStatus, StopReason
from runners.models import Device, Runner
from tests.fake_claude import FakeClaude, Reply, answer
from tests.search_llm.conftest import HAIKU, code, kernel, purpose
from tests.search_llm.test_runs import Start, access, finish_all, start, stepper_of  # noqa: F401  fixtures

pytestmark = pytest.mark.django_db(transaction=True)

#: JSON that Python reads and PostgreSQL, or a walk through it, does not, and other than was asked for.
ODD = (
    '{"fails": false, "reason": "x", "n": ' + "[" * 900 + "]" * 900 + "}",
    '{"fails": false, "reason": "x", "steps": [], "ideas": [], "n": [NaN, Infinity, 1e999]}',
    '{"fails": false, "reason": "x", "n": -Infinity}',
    '{"fails": false, "reason": "x", "n": 1e999}',
    '{"fails": false, "reason": "x", "n": ' + "[" * 100_000 + "]" * 100_000 + "}",
    '{"fails": false, "reason": "x", "n": ' + "9" * 4000 + "}",
    '{"fails": false, "reason": "x", "n": ' + "9" * 5000 + "}",
    '{"fails": false, "reason": "\\ud800\\u0000", "\\ud800": 1}',
    '{"fails": "yes", "reason": 3, "steps": 5, "ideas": {"a": [1]}, "findings": 7}',
    "[1, 2]",
)


def test_odd_json_costs_its_call_and_nothing_else(
    start: Start,  # noqa: F811
    server: FakeClaude,
    runner: Runner,
    device: Device,
) -> None:
    speeds, odd = iter(range(2, 99)), iter(ODD)

    def reply(body: dict[str, Any]) -> Reply:
        if purpose(body) in ("form", "judge", "condense"):
            return answer(next(odd, "{}"))
        speed = next(speeds)
        return code(kernel(f"k{speed}", speed))

    server.responder = reply
    run = start(measurements=4, verifiers=HAIKU)
    stepper = stepper_of(run, server)
    while stepper.step():
        finish_all(runner, device)
    run.refresh_from_db()
    assert (run.status, run.stop_reason) == (RunStatus.FINISHED, StopReason.MEASUREMENTS), run.stop_message
    assert (run.money_reserved, run.tokens_reserved) == (0, 0)
    asked, replied = (JournalEntry.objects.filter(run=run, kind=kind) for kind in ("asked", "replied"))
    assert {row.step for row in asked} == {row.step for row in replied}
    assert next(odd, None) is None  # all of them were given
    json.dumps([row.document for row in replied], allow_nan=False)
