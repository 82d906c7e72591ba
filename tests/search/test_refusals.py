"""What can't be searched is refused at the start, by a rule that programs can tell."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from leaderboard.models import TaskVersion
from leaderboard.search.models import SearchRun
from leaderboard.search.services import runs
from leaderboard.search.services.limits import Limits
from leaderboard.services.errors import Refusal
from runners.models import Device


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"task_slug": "no-such"}, "task_unknown"),
        ({"device_slug": "no-such"}, "device_unknown"),
        ({"task_slug": "soft\0max"}, "task_unknown"),
        ({"task_slug": "\ud800"}, "task_unknown"),
        ({"device_slug": "\0"}, "device_unknown"),
        ({"device_slug": "\ud800"}, "device_unknown"),
        ({"generator": "no-such"}, "generator_unknown"),
        ({"language": "cuda"}, "no_template"),
        ({"limits": Limits(measurements=0)}, "limits_wrong"),
        ({"limits": Limits(device_seconds=float("inf"))}, "limits_wrong"),
    ],
)
def test_what_cannot_be_searched_is_refused(
    owner: User, version: TaskVersion, device: Device, changes: dict[str, Any], rule: str
) -> None:
    values = {"user": owner, "task_slug": "softmax", "device_slug": device.slug, **changes}
    with pytest.raises(Refusal) as refused:
        runs.start(**values)
    assert refused.value.rule == rule
    assert not SearchRun.objects.exists()


@pytest.mark.parametrize(("language", "named"), [("cuda", "CUDA C++"), ("python-cuda", "python-cuda")])
def test_a_language_without_a_template_is_named_as_pages_do(
    owner: User, version: TaskVersion, device: Device, language: str, named: str
) -> None:
    with pytest.raises(Refusal) as refused:
        runs.start(user=owner, task_slug="softmax", device_slug=device.slug, language=language)
    assert refused.value.message == f"{version.task.title} has no template for a test CPU in {named}."


def test_a_form_for_no_task_is_not_found(client: Client, version: TaskVersion) -> None:
    assert client.get("/searches/new/?task=softmax").status_code == 200
    for name in ("no-such", "soft%00max"):
        assert client.get(f"/searches/new/?task={name}").status_code == 404
