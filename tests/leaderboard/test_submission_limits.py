"""What one person may enter is bounded before his source costs anything."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache

from leaderboard.models import Submission
from leaderboard.services import sources, submissions
from leaderboard.services.errors import Refusal
from runners.contract.spec import TaskSpec
from runners.contract.vocabulary import Language

Submit = Callable[..., Submission]
#: Half a million statements in less than a megabyte: parsed, they took nine hundred.
GIANT = "def kernel(x): return x\n" + "x;" * 480_000


@pytest.fixture
def _no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(*_: object) -> None:
        raise AssertionError("the source of a stranger was parsed")

    monkeypatch.setattr(sources, "ast", SimpleNamespace(parse=parse))


def refused(submit: Submit, user: User, **changes: Any) -> str:
    with pytest.raises(Refusal) as caught:
        submit(user, **changes)
    return caught.value.rule


def test_checks_are_counted_by_user_and_day(
    submit: Submit, owner: User, outsider: User, settings: Any
) -> None:
    settings.CHECK_RUNS_PER_DAY = 2
    for _ in range(2):
        submissions.cancel(user=owner, submission=submit(owner, mode="check"))
    assert refused(submit, owner, mode="check") == "too_many_checks"
    submit(owner, mode="test")
    submit(outsider, mode="check")
    Submission.objects.filter(mode="check").update(created_at="2020-01-01T23:59:59Z")
    submit(owner, mode="check")


@pytest.mark.usefixtures("_no_parser")
def test_nothing_is_parsed_for_who_has_no_room_or_budget(submit: Submit, owner: User, settings: Any) -> None:
    settings.DEVICE_SECONDS_PER_DAY = 1
    assert refused(submit, owner) == "over_budget"
    settings.MAX_QUEUED_PER_USER = 0
    assert refused(submit, owner) == "too_many_queued"


@pytest.mark.usefixtures("_no_parser")
def test_giants_are_looked_at_and_not_parsed(spec: TaskSpec) -> None:
    sources.check_entry_point(GIANT, Language.PYTHON, spec)
    with pytest.raises(Refusal, match="defines no function kernel"):
        sources.check_entry_point(GIANT.replace("kernel", "colonel"), Language.PYTHON, spec)


def test_attempts_are_counted_by_user_and_minute(
    submit: Submit, owner: User, outsider: User, settings: Any
) -> None:
    settings.SUBMISSIONS_PER_MINUTE = 1
    assert refused(submit, owner, source="") in ("empty", "too_fast")
    # The minute may turn once between these, not twice.
    assert "too_fast" in [refused(submit, owner, source="") for _ in range(3)]
    assert refused(submit, outsider, source="") == "empty"


def test_a_cache_that_is_down_stops_no_submission(
    submit: Submit, owner: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ConnectionError("no Redis")

    monkeypatch.setattr(cache, "add", fail)
    submit(owner)
    assert "not throttled" in caplog.text
