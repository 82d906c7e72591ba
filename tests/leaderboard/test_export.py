"""Exports hold what the board holds, in its order."""

import csv
import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from leaderboard.models import Submission, TaskVersion
from leaderboard.selectors import boards
from runners.models import Device


def export(*arguments: str) -> str:
    out = StringIO()
    call_command("export_board", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def scored(
    submit: Callable[..., Submission], finish: Callable[..., Submission], owner: User, outsider: User
) -> None:
    finish(submit(owner), 1.00e-3)
    finish(submit(outsider), 1.01e-3)


def test_csv_and_json_order_like_the_board(scored: None, version: TaskVersion, device: Device) -> None:
    board = boards.board(version, device)
    rows = list(csv.DictReader(StringIO(export("double", "--device", "cpu-test"))))
    assert [(int(row["rank"]), row["username"], float(row["seconds"])) for row in rows] == [
        (row.rank, row.username, row.seconds) for row in board.rows
    ]
    assert [row["tied"] for row in rows] == ["True", "True"]
    assert float(rows[0]["cpu-benchmark-2000"]) == 1e-3
    assert export("double", "--device", "cpu-test", "--kernels", "own").count("\n") == 1  # the header alone
    document = json.loads(export("double", "--device", "cpu-test", "--format", "json"))
    assert [(row["rank"], row["username"]) for row in document["rows"]] == [(1, "owner"), (1, "outsider")]
    assert [row["submission"] for row in document["rows"]] == [None, None]  # private ones are not named


def test_a_name_never_becomes_a_formula(
    submit: Callable[..., Submission], finish: Callable[..., Submission], db: None
) -> None:
    finish(submit(User.objects.create_user("@sum")))
    assert ",'@sum," in export("double", "--device", "cpu-test")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such", "--device", "cpu-test"], "there is no task 'no-such' \\(known: double\\)"),
        (["double", "--device", "no"], "there is no device 'no' \\(known: cpu-test\\)"),
        (["double", "--device", "cpu-test", "--task-version", "9"], "double has no such version"),
    ],
)
def test_what_is_not_there_is_one_clear_line(
    task: Any, device: Device, arguments: list[str], message: str
) -> None:
    with pytest.raises(CommandError, match=message):
        export(*arguments)
