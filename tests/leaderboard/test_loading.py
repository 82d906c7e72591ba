"""Loading tasks: idempotent, and a changed contract never mixes with old scores."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from leaderboard.models import Task, TaskVersion
from leaderboard.services.tasks import load_task

from .conftest import PYTHON, catalog_task

OTHER = "def reference(x):\n    return x + x\n"


def numbers() -> list[tuple[int, bool]]:
    return list(TaskVersion.objects.order_by("number").values_list("number", "is_current"))


def test_loading_twice_changes_nothing(db: None) -> None:
    assert load_task(source=catalog_task()).change == "new"
    assert load_task(source=catalog_task()).change == "unchanged"
    assert numbers() == [(1, True)]


@pytest.mark.parametrize(
    "changes",
    [
        {"reference": OTHER},
        {"tolerance": {"float32": {"atol": 0.0, "rtol": 1e-5}}},
        {"languages": ["python"]},
        {"cases": {"cpu": {"test": [{"n": 6}], "benchmark": [{"n": 9, "fits_in_cache": "a test"}]}}},
    ],
)
def test_a_changed_contract_is_a_new_version(db: None, changes: dict[str, Any]) -> None:
    load_task(source=catalog_task())
    loaded = load_task(source=catalog_task(**changes))
    assert (loaded.change, loaded.number) == ("new version", 2)
    assert numbers() == [(1, False), (2, True)]


def test_going_back_makes_the_old_version_current_again(db: None) -> None:
    load_task(source=catalog_task())
    load_task(source=catalog_task(reference=OTHER))
    assert load_task(source=catalog_task()).number == 1
    assert numbers() == [(1, True), (2, False)]
    load_task(source=catalog_task(reference=OTHER + "\n"))
    assert numbers() == [(1, False), (2, False), (3, True)]


def test_texts_change_in_place(db: None) -> None:
    from dataclasses import replace

    load_task(source=catalog_task())
    changed = replace(
        catalog_task(),
        title="Twice",
        statement="# New\n",
        starters={"python": PYTHON + "\n", "cpp": "// c++\n"},
        position=7,
    )
    assert load_task(source=changed).change == "updated"
    assert numbers() == [(1, True)]
    task, version = Task.objects.get(), TaskVersion.objects.get()
    assert (task.title, task.position, version.statement) == ("Twice", 7, "# New\n")
    assert version.starters["cpp"] == "// c++\n"


def test_a_closed_task_stays_closed(db: None) -> None:
    load_task(source=catalog_task())
    Task.objects.update(is_open=False)
    load_task(source=catalog_task(reference=OTHER))
    assert not Task.objects.get().is_open


def test_the_command_loads_the_catalog_and_repeats_quietly(db: None, settings: Any) -> None:
    settings.CATALOG_TASKS = ["softmax"]
    first, second = StringIO(), StringIO()
    call_command("load_tasks", stdout=first)
    call_command("load_tasks", stdout=second)
    assert first.getvalue() == "softmax: new, version 1\n1 tasks are loaded.\n"
    assert second.getvalue() == "1 tasks are loaded.\n"
    assert "python" in TaskVersion.objects.get().starters


def test_a_task_that_is_not_there_is_one_clear_line(db: None, settings: Any) -> None:
    settings.CATALOG_TASKS = ["softmax", "no-such"]
    with pytest.raises(CommandError, match=r"KERNELHUB_TASKS: there is no task 'no-such' \(known: .*softmax"):
        call_command("load_tasks")
    assert not Task.objects.exists()
