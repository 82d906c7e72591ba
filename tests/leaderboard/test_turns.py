"""Turns at heavy answers: one for one person, few for all, and none is lost with a killed process."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest
import redis
from django.core.cache import cache

from leaderboard.services import turns
from leaderboard.services.errors import Busy
from leaderboard.services.turns import turn
from tests.waiting import wait_for


@pytest.fixture(autouse=True)
def _no_turns_of_others() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def test_two_hold_turns_and_a_third_is_refused_until_one_is_done() -> None:
    with ExitStack() as held:
        held.enter_context(turn("a"))
        with turn("b"):
            with pytest.raises(Busy) as third, turn("c"):
                pass
            assert (third.value.rule, third.value.is_own, third.value.retry_after) == (
                "downloads_busy",
                False,
                5,
            )
        with turn("c"), pytest.raises(Busy) as own, turn("a"):
            pass
        assert (own.value.rule, own.value.is_own) == ("one_download", True)
    with turn("a"), turn("b"):
        pass  # a refusal keeps nothing, its own key neither


def test_a_turn_is_given_back_when_making_the_answer_fails() -> None:
    for _ in range(5):
        with pytest.raises(ZeroDivisionError), turn("a"):
            raise ZeroDivisionError


def test_the_turn_of_a_killed_process_ends_by_itself() -> None:
    killed = (
        "import os, signal, django; django.setup()\n"
        "from leaderboard.services import turns\n"
        "turns.LEASE_SECONDS = 1\n"
        "with turns.turn('a'): os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", killed], check=False, timeout=120)
    assert done.returncode == -9

    def is_free() -> bool:
        with suppress(Busy), turn("a"):
            return True
        return False

    wait_for("the lease to end", is_free)
    for place in range(2):
        assert cache.get(f"turn:{place}") is None


def test_a_turn_that_outlasted_its_lease_leaves_the_next_ones_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "LEASE_SECONDS", 1)  # within the margin: over as soon as it is had
    with turn("a"):
        pass
    assert cache.get("turn-of:a") == 1


def test_without_a_cache_no_downloads_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any, **__: Any) -> bool:
        raise redis.exceptions.ConnectionError

    monkeypatch.setattr(cache, "add", away)
    with pytest.raises(Busy, match="try again"), turn("a"):
        pass
