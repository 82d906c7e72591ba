"""A sandbox that is too weak is told on the device page, greys the mode, and is refused, in one sentence."""

import html
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from leaderboard.models import Submission, TaskVersion
from leaderboard.selectors.devices import device_statuses
from leaderboard.selectors.options import submit_options
from leaderboard.services.errors import Refusal
from runners.models import Device, Runner

LAYERS = {"own uid": "proved", "namespaces": "bubblewrap is not installed"}
SENTENCE = (
    "a test CPU takes no ranked runs: its sandbox reaches tier T1, T2 is required "
    "(namespaces: bubblewrap is not installed)."
)


@pytest.fixture
def weak(device: Device) -> Runner:
    return Runner.objects.create(
        device=device, host="here", pid=1, tier="T1", layers=LAYERS, heartbeat_at=timezone.now()
    )


def enabled_modes(owner: User, version: TaskVersion) -> set[str]:
    return {choice.value for choice in submit_options(owner, version).modes if choice.enabled}


def test_ranked_is_greyed_told_and_refused(
    weak: Runner, submit: Callable[..., Submission], owner: User, version: TaskVersion, client: Client
) -> None:
    modes = {choice.value: choice for choice in submit_options(owner, version).modes}
    assert [mode for mode, choice in modes.items() if not choice.enabled] == ["ranked"]
    assert (modes["ranked"].reason, modes["ranked"].reasons) == (SENTENCE, {"cpu-test": SENTENCE})
    with pytest.raises(Refusal) as caught:
        submit(owner, mode="ranked")
    assert (caught.value.rule, caught.value.message) == ("tier_too_low", SENTENCE)
    assert submit(owner, mode="benchmark").pk
    page = html.unescape(client.get("/devices/").content.decode())
    for words in (SENTENCE, "<dd>T1</dd>", "Layer, namespaces", "bubblewrap is not installed"):
        assert words in page
    assert SENTENCE in html.unescape(client.get("/tasks/double/submit/").content.decode())
    told = client.get("/api/v1/devices/").json()[0]
    assert (told["sandbox"], told["ranked_refusal"]) == ({"tier": "T1", "layers": LAYERS}, SENTENCE)


def test_below_t1_only_checks_are_taken(
    weak: Runner, owner: User, version: TaskVersion, settings: Any
) -> None:
    Runner.objects.update(tier="T0")
    assert enabled_modes(owner, version) == {"check"}
    settings.ALLOW_WEAK_SANDBOX = True
    assert enabled_modes(owner, version) == {"check", "test", "benchmark", "profile"}
    settings.REQUIRED_TIER = "T0"
    assert "ranked" in enabled_modes(owner, version)


def test_the_strongest_runner_that_is_alive_counts(
    weak: Runner, runner: Runner, owner: User, version: TaskVersion
) -> None:
    assert "ranked" in enabled_modes(owner, version)
    Runner.objects.filter(pk=runner.pk).update(stopped_at=timezone.now())
    assert "ranked" not in enabled_modes(owner, version)


def test_of_a_device_that_is_offline_nothing_is_claimed(
    weak: Runner, submit: Callable[..., Submission], owner: User
) -> None:
    Runner.objects.update(stopped_at=timezone.now())
    (status,) = device_statuses()
    assert (status.sandbox, status.ranked_refusal) == (None, "")
    assert submit(owner, mode="ranked").pk
