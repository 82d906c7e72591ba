"""Stopping a run while a language model thinks: what is asked already is paid for, nothing more is asked."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from leaderboard.search.models import RunStatus, SearchRun, StopReason
from leaderboard.search.services import runs
from leaderboard.services import site_mode
from runners.models import Device, Runner
from tests.fake_claude import FakeClaude, Reply
from tests.search_llm.conftest import HAIKU, purpose
from tests.search_llm.test_runs import Start, access, finish_all, start, stepper_of  # noqa: F401  fixtures
from tests.search_llm.test_search import Author

pytestmark = pytest.mark.django_db(transaction=True)


def while_writing(server: FakeClaude, act: Callable[[], Any]) -> None:
    """Have ``act`` done, once, while the model writes a first kernel."""
    author, done = Author(), list[bool]()

    def reply(body: dict[str, Any]) -> Reply:
        if purpose(body) == "translate" and not done:
            done.append(True)
            thread = threading.Thread(target=act_apart)  # the server's own has a loop, which bars databases
            thread.start()
            thread.join()
        return author(body)

    def act_apart() -> None:
        act()
        connection.close()

    server.responder = reply


def begun(start: Start, server: FakeClaude, runner: Runner, device: Device) -> SearchRun:  # noqa: F811
    run = start(measurements=4, verifiers=HAIKU)
    stepper_of(run, server).step()
    finish_all(runner, device)
    return run


def test_a_pause_spares_the_verifiers_until_somebody_resumes(
    start: Start,  # noqa: F811
    server: FakeClaude,
    owner: User,
    runner: Runner,
    device: Device,
) -> None:
    run = begun(start, server, runner, device)
    while_writing(server, lambda: runs.pause(run=run, user=owner))
    assert not stepper_of(run, server).step()
    assert [purpose(body) for body in server.bodies] == ["form", "translate"]
    run.refresh_from_db()
    assert (run.status, run.money_reserved, run.tokens_reserved) == (RunStatus.PAUSED, 0, 0)
    assert run.money_spent > 0
    assert runs.resume(run=run, user=owner)
    assert stepper_of(run, server).step()
    assert [purpose(body) for body in server.bodies] == ["form", "translate", *["judge"] * 3]
    assert run.candidates.count() == 2


def test_a_cancelled_run_asks_nothing_more(
    start: Start,  # noqa: F811
    server: FakeClaude,
    owner: User,
    runner: Runner,
    device: Device,
) -> None:
    run = begun(start, server, runner, device)
    while_writing(server, lambda: runs.cancel(run=run, user=owner))
    assert not stepper_of(run, server).step()
    assert [purpose(body) for body in server.bodies] == ["form", "translate"]
    run.refresh_from_db()
    assert (run.stop_reason, run.money_reserved, run.tokens_reserved) == (StopReason.CANCELLED, 0, 0)


def test_time_that_runs_out_while_a_model_writes_ends_the_run_before_it_is_asked_again(
    start: Start,  # noqa: F811
    server: FakeClaude,
    runner: Runner,
    device: Device,
) -> None:
    run = begun(start, server, runner, device)
    long_ago = timezone.now() - timedelta(days=40)
    while_writing(server, lambda: SearchRun.objects.filter(pk=run.pk).update(going_since=long_ago))
    stepper = stepper_of(run, server)
    assert not stepper.step()
    assert [purpose(body) for body in server.bodies] == ["form", "translate"]
    assert stepper.step()
    run.refresh_from_db()
    assert (run.stop_reason, run.money_reserved) == (StopReason.WALL_SECONDS, 0)


def test_a_site_that_becomes_read_only_pays_for_no_further_call(
    start: Start,  # noqa: F811
    server: FakeClaude,
    runner: Runner,
    device: Device,
) -> None:
    run = begun(start, server, runner, device)
    while_writing(server, lambda: site_mode.set_read_only(reason="Moving house."))
    stepper = stepper_of(run, server)
    assert not stepper.step()
    assert not stepper.step()
    assert [purpose(body) for body in server.bodies] == ["form", "translate"]
    site_mode.reopen()
    assert stepper.step()
    assert [purpose(body) for body in server.bodies] == ["form", "translate", *["judge"] * 3]
