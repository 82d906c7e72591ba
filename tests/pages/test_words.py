"""What people read instead of the names inside: languages, forecasters, warm caches, a new account."""

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from leaderboard.models import Submission
from leaderboard.templatetags.forecasters import forecaster_meaning, recipe_words
from leaderboard.views.run import run_of
from runners.models import Evaluation
from surrogate.forecasters.repeats import VERSION as REPEATS
from surrogate.work import NOT_ASKED
from tests.leaderboard.conftest import result_document

CPP = 'extern "C" void kernel(const float* x, float* y, long n) {}\n'
PASSWORD = "correct-horse-battery"


def test_every_page_spells_a_language_alike(
    client: Client, submit: Callable[..., Submission], finish: Callable[..., Submission], owner: User
) -> None:
    submission = finish(submit(owner, language="cpp", source=CPP))
    client.force_login(owner)
    for path in (f"/submissions/{submission.pk}/", "/submissions/", "/tasks/double/"):
        page = client.get(path).content.decode()
        assert re.search(r"<(td|dd)>C\+\+</", page), path
        assert not re.search(r"<(td|dd)>cpp</", page), path


@pytest.mark.parametrize(
    ("warm", "words", "count"),
    [
        (None, (), (0, 0)),
        (0.9e-3, ("Warm caches: calls on the same memory",), (0, 0)),
        (1.05e-3, ("slower, noise</small>", "the two do not differ"), (2, 0)),
        (1.5e-3, ("slower</small>", "by more than the interval"), (0, 2)),
    ],
)
def test_a_warm_time_slower_than_the_cold_one_is_explained(
    client: Client,
    submit: Callable[..., Submission],
    finish: Callable[..., Submission],
    owner: User,
    warm: float | None,
    words: tuple[str, ...],
    count: tuple[int, int],
) -> None:
    told = result_document(1e-3, width=0.1)
    for timing in told["benchmarks"]:
        timing["warm_seconds"] = warm
    submission = finish(submit(owner), width=0.1, benchmarks=told["benchmarks"])
    run = run_of(submission)
    assert (run.slower_warm, run.slower_beyond) == count
    client.force_login(owner)
    page = client.get(f"/submissions/{submission.pk}/").content.decode()
    assert ("Warm caches: calls" in page) == bool(words)
    for some in words:
        assert some in page
    assert ("slower, noise" in page) == (count[0] > 0)
    assert ("by more than the interval" in page) == (count[1] > 0)


def test_a_time_without_an_interval_is_not_said_to_be_beyond_it() -> None:
    timing: dict[str, Any] = {"status": "passed", "seconds": 1e-3, "warm_seconds": 2e-3}
    evaluation = Evaluation(
        mode="ranked", status="finished", verdict="passed", result={"benchmarks": [timing]}
    )
    run = run_of(Submission(mode="ranked", evaluation=evaluation))
    assert (run.slower_warm, run.slower_beyond) == (1, 0)


def test_a_new_account_is_welcomed_and_an_old_one_is_not(client: Client, db: None) -> None:
    form = {"username": "ada", "password1": PASSWORD, "password2": PASSWORD}
    page = html.unescape(client.post("/accounts/signup/", form, follow=True).content.decode())
    assert "Welcome to KernelHub, ada: your account is ready" in page
    client.post("/accounts/logout/")
    answer = client.post("/accounts/login/", {"login": "ada", "password": PASSWORD}, follow=True)
    page = html.unescape(answer.content.decode())
    assert "Logged in as ada." in page
    assert "Welcome" not in page


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ("1", "version 1"),
        ("2 of prior, roofline", "of prior, roofline"),
        (REPEATS, "for kernels that were timed here before: from their own times"),
        (
            f"claude-some-model-{REPEATS}",
            "claude-some-model; whether it is right from the kernel’s own earlier runs",
        ),
        (NOT_ASKED, "no forecaster was asked"),
        ("claude-some-model", "claude-some-model"),
    ],
)
def test_a_recipe_is_told_in_words(recipe: str, words: str) -> None:
    assert recipe_words(recipe) == words


@pytest.mark.parametrize(
    "name", ["ensemble", "prior", "roofline", "neighbours", "statistical", "local", "anthropic"]
)
def test_every_forecaster_says_what_it_goes_by(name: str) -> None:
    assert forecaster_meaning(name)
