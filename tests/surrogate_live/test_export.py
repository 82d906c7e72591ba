"""The site's own outcomes can be read back as a data set."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from leaderboard.models import Submission
from surrogate.datasets.export import load
from surrogate.models import Anchor
from surrogate.services import outcomes


def test_what_is_exported_loads_again(
    submit: Callable[..., Submission],
    finish: Callable[..., Submission],
    owner: User,
    anchor: Anchor,
    tmp_path: Path,
) -> None:
    finish(submit(owner), 1e-3)
    outcomes.record_missing()
    target = tmp_path / "outcomes.jsonl"
    call_command("export_outcomes", output=target, stdout=StringIO())
    data = load([json.loads(line) for line in target.read_text().splitlines()])
    (record,) = data.records
    assert record.outcome.log2_ratio == pytest.approx(2.0)
    assert record.outcome.request.anchor.name == "reference, eager"
    with pytest.raises(CommandError, match="exists and is never written over: name a new file"):
        call_command("export_outcomes", output=target)


def test_staff_can_read_every_table_and_write_none(client: Client, anchor: Anchor) -> None:
    client.force_login(User.objects.create_superuser("chief"))
    for model in apps.get_app_config("surrogate").get_models():
        assert admin.site.is_registered(model), model
        page = f"/admin/surrogate/{model._meta.model_name}/"
        assert client.get(f"{page}add/").status_code == 403
