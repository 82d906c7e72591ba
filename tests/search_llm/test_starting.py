"""Starting a search by a language model: by the API, and what is refused before anybody is asked."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from leaderboard.models import TaskVersion
from leaderboard.search.models import SearchRun
from leaderboard.services.errors import Refusal
from runners.models import Device
from tests.fake_claude import FakeClaude
from tests.search_llm.conftest import SONNET
from tests.search_llm.test_runs import access, start  # noqa: F401  fixtures

pytestmark = pytest.mark.django_db(transaction=True)
Start = Callable[..., SearchRun]


def test_a_search_is_started_by_the_api(
    owner: User, version: TaskVersion, device: Device, server: FakeClaude
) -> None:
    api = APIClient()
    api.force_login(owner)
    wanted = {"task": "softmax", "device": device.slug, "generator": "llm", "models": SONNET}
    refused = api.post("/api/v1/searches/", wanted, format="json")
    assert refused.status_code in (400, 409)
    assert refused.json()["error"]["code"] == "limits_wrong"
    created = api.post("/api/v1/searches/", {**wanted, "money": 1.5, "tokens": 10**6}, format="json")
    assert created.status_code == 201, created.json()
    found = created.json()
    assert (found["generator"], found["money_limit"], found["money_spent"]) == ("llm", 1.5, 0)
    assert found["plan"]["multiple"] == 2
    assert server.requests == []


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"money": 0.0}, "limits_wrong"),
        ({"tokens": 0}, "limits_wrong"),
        ({"money": 5.01}, "over_money"),
        ({"verifiers": "gpt-9"}, "model_unknown"),
    ],
)
def test_what_can_not_be_asked_is_refused_at_the_start(
    start: Start,  # noqa: F811
    changes: Any,
    rule: str,
) -> None:
    with pytest.raises(Refusal) as caught:
        start(**changes)
    assert caught.value.rule == rule
    assert not SearchRun.objects.exists()


def test_without_a_key_there_is_no_such_search(
    start: Start,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(Refusal, match="no access to a language model"):
        start()
