"""The operator's switches: read-only, and the bound on what everybody spends in a day."""

from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from leaderboard.models import SiteSpend, SiteState, Spend, Submission
from leaderboard.selectors.days import today
from leaderboard.selectors.site import site_status
from leaderboard.services import baselines, site_mode, submissions
from leaderboard.services.errors import Refusal
from runners.models import Device, Evaluation

from .conftest import PYTHON
from .races import together

Submit = Callable[..., Submission]
Finish = Callable[..., Submission]


def site_mode_command(*arguments: str) -> str:
    output = StringIO()
    call_command("site_mode", *arguments, stdout=output)
    return output.getvalue()


def test_read_only_refuses_submissions_with_the_reason_and_nothing_else(
    submit: Submit, owner: User, client: Client
) -> None:
    waiting = submit(owner)
    said = site_mode_command("read-only", "--reason", "The disk is being replaced.")
    assert said.startswith("read-only: The disk is being replaced.; 86040 of 86400")
    for mode in ("check", "test", "ranked"):
        with pytest.raises(Refusal, match="The disk is being replaced") as refused:
            submit(owner, mode=mode)
        assert refused.value.rule == "site_read_only"
    assert Submission.objects.count() == Evaluation.objects.count() == 1
    for path in ("/", "/devices/", "/tasks/double/"):
        page = client.get(path)
        assert page.status_code == 200
        assert "Read-only" in page.content.decode()
        assert "The disk is being replaced." in page.content.decode()
    assert client.get("/api/v1/tasks/").status_code == 200
    assert submissions.cancel(user=owner, submission=waiting)  # what saves device time stays possible
    assert site_mode_command("open").startswith("open")
    submit(owner)
    assert "Read-only" not in client.get("/").content.decode()


def test_the_api_says_so_too(submit: Submit, task: Any, device: Device, owner: User) -> None:
    site_mode.set_read_only(reason="Moving house")
    client = Client()
    client.force_login(owner)
    body = {"task": task.slug, "device": device.slug, "language": "python", "source": PYTHON}
    answer = client.post("/api/v1/submissions/", body, content_type="application/json")
    assert answer.status_code == 503
    error = answer.json()["error"]
    assert (error["code"], error["field"]) == ("site_read_only", None)
    assert error["message"] == "The site takes no submissions at present: Moving house."


@pytest.mark.django_db
@pytest.mark.parametrize("reason", ["", "  ", "x" * 301])
def test_visitors_are_owed_a_reason(reason: str) -> None:
    with pytest.raises(CommandError, match="reason"):
        site_mode_command("read-only", "--reason", reason)
    assert not SiteState.objects.exists()


def test_the_switch_is_in_the_admin(db: None, settings: Any) -> None:
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": plain}
    client = Client()
    client.force_login(User.objects.create_superuser("chief", password="chief-password"))
    path = "/admin/leaderboard/sitestate/add/"
    assert client.post(path, {"is_read_only": "on", "reason": ""}).status_code == 200  # asks for the reason
    assert client.post(path, {"is_read_only": "on", "reason": "Stop."}).status_code == 302
    assert site_status().reason == "Stop."
    assert client.get(path).status_code == 403  # there is one row


def test_everybody_s_seconds_are_reserved_and_settled(
    submit: Submit, finish: Finish, owner: User, outsider: User
) -> None:
    first, second = submit(owner), submit(outsider)
    assert site_status().reserved == 720
    finish(first, audit=False)
    submissions.cancel(user=outsider, submission=second)
    status = site_status()
    assert (status.spent, status.reserved, status.left) == (12.5, 0, 86_400 - 12.5)


def test_baselines_count_and_are_never_refused(
    version: Any, device: Device, finish: Finish, settings: Any
) -> None:
    settings.SITE_DEVICE_SECONDS_PER_DAY = 0
    baselines.enqueue_missing(device)
    for baseline in Submission.objects.all():
        finish(baseline)
    assert site_status().spent == 25


def test_a_spent_day_refuses_runs_says_so_and_ends(
    submit: Submit, owner: User, client: Client, settings: Any
) -> None:
    settings.SITE_DEVICE_SECONDS_PER_DAY = 380
    submit(owner)
    with pytest.raises(Refusal, match="20 are left today for all users") as refused:
        submit(owner)
    assert refused.value.rule == "site_budget_spent"
    assert Spend.objects.get().reserved_seconds == 360  # nothing was kept of the refused one
    submit(owner, mode="check")  # costs no device time
    assert "seconds of all users together are spent" in client.get("/").content.decode()
    SiteState.objects.create(device_seconds_per_day=1000)
    submit(owner)
    assert "are spent" not in client.get("/").content.decode()
    SiteSpend.objects.update(day=today() - timedelta(days=1))
    assert site_status().left == 1000


@pytest.mark.django_db(transaction=True)
def test_different_people_at_once_cannot_spend_the_same_seconds(
    submit: Submit, owner: User, outsider: User, staff: User, settings: Any
) -> None:
    settings.SITE_DEVICE_SECONDS_PER_DAY = 750
    raised = together(*(lambda user=user: submit(user) for user in (owner, outsider, staff)))
    assert [getattr(error, "rule", error) for error in raised] == ["site_budget_spent"]
    assert Submission.objects.count() == 2
    assert SiteSpend.objects.get().reserved_seconds == 720
