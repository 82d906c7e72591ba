"""The admin shows every model, lets budgets be changed, and measured rows be looked at only."""

import base64
from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from leaderboard.models import Allowance, ApiToken, Reservation, Score, Spend, Submission
from leaderboard.selectors.budgets import budget_of
from leaderboard.services import site_mode, tokens
from runners.models import Device, Evaluation, Kernel, Runner, SpecDocument
from runners.services import devices

PLAIN = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}


@pytest.fixture
def chief(db: None, settings: Any) -> Client:
    settings.STORAGES = {**settings.STORAGES, "staticfiles": PLAIN}  # nothing was collected
    client = Client()
    client.force_login(User.objects.create_superuser("chief", password="chief-password"))
    return client


@pytest.fixture
def everything(
    submit: Callable[..., Submission], finish: Callable[..., Submission], owner: User, device: Device
) -> None:
    finish(submit(owner), trace=base64.b64encode(b"a trace").decode())
    submit(owner)
    tokens.create(user=owner, name="laptop", scopes=["read"])
    Allowance.objects.create(user=owner, device=device, seconds_per_day=5)
    site_mode.reopen()


def test_every_model_of_ours_is_there(chief: Client, everything: None) -> None:
    for label in ("leaderboard", "runners"):
        for model in apps.get_app_config(label).get_models():
            assert admin.site.is_registered(model), model
            base = f"/admin/{label}/{model._meta.model_name}/"
            assert chief.get(base).status_code == 200, base
            row = model._default_manager.first()
            assert row is not None, model
            assert chief.get(f"{base}{row.pk}/change/").status_code == 200, model


def test_lists_leave_sources_and_results_in_the_database(
    chief: Client, everything: None, django_assert_max_num_queries: Any
) -> None:
    big = ("result", "progress", "source", "statement", "starters")
    for path in ("leaderboard/submission", "leaderboard/taskversion", "runners/evaluation", "runners/kernel"):
        with django_assert_max_num_queries(12) as asked:
            assert chief.get(f"/admin/{path}/").status_code == 200
        read = [query["sql"] for query in asked.captured_queries]
        found = [name for name in big for sql in read if f'."{name}"' in sql]
        assert not found, path


@pytest.mark.parametrize("model", [Submission, Evaluation, Kernel, SpecDocument, Runner, Reservation])
def test_what_was_measured_cannot_be_changed(chief: Client, everything: None, model: Any) -> None:
    row = model.objects.first()
    base = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
    assert chief.post(f"{base}{row.pk}/change/", {"source": "x"}).status_code == 403
    assert chief.post(f"{base}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    assert chief.get(f"{base}add/").status_code == 403


def test_scores_of_cheats_and_leaked_tokens_can_be_removed(chief: Client, everything: None) -> None:
    for model in (Score, ApiToken):
        row = model.objects.get()
        path = f"/admin/leaderboard/{model._meta.model_name}/{row.pk}/delete/"
        assert chief.post(path, {"post": "yes"}).status_code == 302
        assert not model.objects.exists()


def test_a_budget_is_changed_for_one_person(chief: Client, owner: User, device: Device) -> None:
    body = {"user": owner.pk, "device": device.pk, "seconds_per_day": 77}
    assert chief.post("/admin/leaderboard/allowance/add/", body).status_code == 302
    assert budget_of(owner, device).allowance == 77


def test_spent_seconds_can_be_given_back(
    chief: Client, everything: None, owner: User, device: Device
) -> None:
    spend = Spend.objects.get()
    path = f"/admin/leaderboard/spend/{spend.pk}/change/"
    assert chief.post(path, {"spent_seconds": "0"}).status_code == 302
    assert budget_of(owner, device).spent == 0


def test_digests_of_tokens_are_not_shown(chief: Client, everything: None) -> None:
    token = ApiToken.objects.get()
    page = chief.get(f"/admin/leaderboard/apitoken/{token.pk}/change/")
    assert token.digest not in page.content.decode()


def test_others_do_not_get_in(owner: User, db: None) -> None:
    client = Client()
    client.force_login(owner)
    assert client.get("/admin/").status_code == 302


def test_a_runner_that_a_page_names_is_found_with_its_host(chief: Client, device: Device) -> None:
    runners = [
        Runner.objects.create(device=device, host=host, pid=1, tier="T2", heartbeat_at=timezone.now())
        for host in ("rack-seven", "rack-eight")
    ]
    page = chief.get(f"/admin/runners/runner/?q={runners[0].short_name}").content.decode()
    assert runners[0].short_name in page
    assert "rack-seven" in page
    assert "rack-eight" not in page


def test_a_quarantined_device_is_released(chief: Client, device: Device) -> None:
    devices.quarantine(device=device, reason="GPU 0 did not answer.")
    body = {"action": "release", "_selected_action": [device.pk]}
    assert chief.post("/admin/runners/device/", body).status_code == 302
    device.refresh_from_db()
    assert device.quarantine_reason == ""
    assert "GPU 0 did not answer." in LogEntry.objects.get().change_message
