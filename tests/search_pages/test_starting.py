"""The form that starts a search: what can be chosen, why the rest can't, and what becomes of a wrong one."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from leaderboard.catalog.loader import CATALOG, load
from leaderboard.models import TaskVersion
from leaderboard.search.models import SearchRun
from leaderboard.selectors import specs
from leaderboard.services import tasks
from runners.contract.vocabulary import NO_COMPILER
from runners.models import Device, Runner
from tests.pages.test_pages import assert_clean
from tests.search_pages.conftest import Start

GOOD = {
    "task": "softmax", "device": "cpu-test", "generator": "template", "language": "cpp", "policy": "none",
    "measurements": "8", "device_seconds": "900.5", "minutes": "30", "seed": "7", "is_public": "on",
}  # fmt: skip


@pytest.fixture
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def owners_client(client_of: Callable[[str], Client], version: TaskVersion, runner: Runner) -> Client:
    return client_of("owner")


def test_a_form_becomes_a_run(owners_client: Client) -> None:
    answer = owners_client.post("/searches/new/", GOOD)
    run = SearchRun.objects.get()
    assert answer["Location"] == f"/searches/{run.pk}/"
    assert (run.measurements_limit, run.device_seconds_limit, run.wall_seconds_limit) == (8, 900.5, 1800.0)
    assert (run.plan["policy"], run.plan["seed"], run.language) == ("none", 7, "cpp")
    assert (run.is_public, run.enters_best, run.tokens_limit) == (True, False, 0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"measurements": "1e3"}, "Measurements must be a whole number"),
        ({"measurements": "-1"}, "Measurements must be a whole number"),
        ({"measurements": ""}, "measurements must be above 0"),
        ({"device_seconds": "nan"}, "Device seconds must be a number"),
        ({"device_seconds": "239"}, "239 pay for none"),
        ({"minutes": "inf"}, "Minutes must be a number"),
        ({"seed": "²"}, "Seed must be a whole number"),
        ({"policy": "best"}, "is no arm of a search"),
        ({"generator": "llm", "tokens": "100", "money": "1"}, "no access to a language model"),
        ({"generator": "magic"}, "is no generator"),
        ({"language": "fortran"}, "has no template"),
        ({"device": "gpu-none"}, "There is no device"),
        ({"measurements": "401"}, "within a day"),
    ],
)
def test_a_wrong_form_is_shown_again_with_what_was_typed(
    owners_client: Client, changes: dict[str, str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    answer = owners_client.post("/searches/new/", GOOD | changes)
    html = answer.content.decode()
    assert answer.status_code == 422
    assert words in html
    assert 'value="900.5"' in html or "device_seconds" in changes
    assert_clean(html)
    assert not SearchRun.objects.exists()


def test_what_cannot_be_chosen_says_why(
    owners_client: Client, device: Device, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    html = owners_client.get("/searches/new/?task=softmax").content.decode()
    assert_clean(html)
    assert 'value="llm" disabled' in html
    assert "no API key is set" in html
    assert "For a language model" not in html
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-secret-key")
    html = owners_client.get("/searches/new/?task=softmax").content.decode()
    assert 'value="llm" disabled' not in html
    assert "For a language model" in html
    assert "a-secret-key" not in html
    Device.objects.filter(pk=device.pk).update(quarantine_reason="It glows.")
    html = owners_client.get("/searches/new/?task=softmax").content.decode()
    assert "is quarantined: It glows." in html
    assert 'id="start" disabled' in html


def test_strangers_are_sent_to_log_in(client: Client, version: TaskVersion, runner: Runner) -> None:
    html = client.get("/searches/new/").content.decode()
    assert "Log in to start one" in html
    assert client.post("/searches/new/", GOOD)["Location"].startswith("/accounts/login/")
    assert client.get("/searches/new/?task=nothing").status_code == 404


def test_refusals_of_steering_are_told_on_the_page(
    start: Callable[..., SearchRun], owner: User, client_of: Callable[[str], Client]
) -> None:
    run, client = start(), client_of("owner")
    more: dict[str, Any] = {"measurements": "x", "device_seconds": "1", "minutes": "1"}
    more["candidate"] = ["9" * 5000, "-1", "²", "7"]
    said = {
        "enter/": "The search has not ended",
        "extend/": "Measurements must be a whole number",
        "stop/": "0 candidates stopped.",
        "resume/": "was not paused",
    }
    for tail, words in said.items():
        html = client.post(f"/searches/{run.pk}/{tail}", more, follow=True).content.decode()
        assert words in html, tail


def test_one_limit_alone_can_be_raised(start: Start, owner: User, client_of: Callable[[str], Client]) -> None:
    """Money for example: more of it should not need more measurements."""
    run, client = start(), client_of("owner")
    SearchRun.objects.filter(pk=run.pk).update(generator="llm")
    page = client.get(f"/searches/{run.pk}/").content.decode()
    form = page.partition('<details id="extend">')[2].partition("</details>")[0]
    fields = re.findall(r"<input id=[^>]*>", form)
    assert len(fields) == 5
    assert all('min="0"' in field and "required" not in field for field in fields)
    none = {"measurements": "0", "device_seconds": "0", "minutes": "", "tokens": "0"}
    client.post(f"/searches/{run.pk}/extend/", {**none, "money": "0.25"})
    before = (run.measurements_limit, run.device_seconds_limit, run.wall_seconds_limit)
    run.refresh_from_db()
    assert (run.measurements_limit, run.device_seconds_limit, run.wall_seconds_limit) == before
    assert run.money_limit == 0.25


def chosen_task(client: Client, query: str = "") -> tuple[str, str]:
    """The slug that the form has chosen, and what stands there about tasks that it could not search."""
    html = client.get(f"/searches/new/{query}").content.decode()
    assert_clean(html)
    slugs = re.findall(r'<option value="([^"]*)" selected', html)
    assert len(slugs) == 1
    return slugs[0], html.partition('id="unusable-tasks">')[2].partition("</div>")[0]


def test_a_task_that_can_be_searched_here_is_chosen_first(
    owners_client: Client, no_model: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("histogram", "scan"):
        tasks.load_task(source=load(CATALOG / name))  # they have no template, and their titles come first
    tasks.load_task(source=load(CATALOG / "matmul-bf16"))  # for CUDA devices
    slug, why = chosen_task(owners_client)
    assert slug == "softmax"
    assert "A search can look for kernels of Row softmax on a test CPU. The others can’t" in why
    assert re.findall("<li>(.*?)</li>", why) == [
        "<strong>Histogram and Inclusive scan</strong>: no template of the task runs on a test CPU, "
        "and this site has no access to a language model, as no API key is set.",
        "<strong>Matrix product, bfloat16</strong>: no cases for CPU devices.",
    ]
    # Who asks for the other one gets it, and may not start.
    assert chosen_task(owners_client, "?task=histogram")[0] == "histogram"
    assert 'id="start" disabled' in owners_client.get("/searches/new/?task=histogram").content.decode()
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-secret-key")
    slug, why = chosen_task(owners_client)
    assert slug == "histogram"
    assert "kernels of Histogram, Inclusive scan and Row softmax on" in why
    assert why.count("<li>") == 1


def test_a_device_on_which_the_task_can_be_searched_is_chosen_first(
    owners_client: Client, no_model: None, device: Device
) -> None:
    """The one whose compiler is missing comes first by its name."""
    Device.objects.filter(pk=device.pk).update(name="a CPU", facts={"compiler": NO_COMPILER})
    bare = Device.objects.get(pk=device.pk)
    able = Device.objects.create(slug="cpu-other", kind="cpu", name="b CPU", facts={"cores": 2})
    html = owners_client.get("/searches/new/").content.decode()
    assert f'name="device" value="{able.slug}"' in html
    html = owners_client.get(f"/searches/new/?device={bare.slug}").content.decode()
    assert "which a CPU lacks at present" in html


def test_the_form_asks_a_fixed_number_of_questions(
    owners_client: Client, no_model: None, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    """However many tasks there are, read before or not."""
    for name in ("histogram", "scan", "sum"):
        tasks.load_task(source=load(CATALOG / name))
    specs._kept.clear()
    # Four are for who asks and the state of the site; the tasks' contracts are read once, all together.
    for most in (16, 15):
        with django_assert_max_num_queries(most):
            owners_client.get("/searches/new/")
