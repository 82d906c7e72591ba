"""Stopping a run while a language model thinks: what is asked already is paid for, nothing more is asked."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from leaderboard.management.commands.search_worker import SearchWorker
from leaderboard.search.llm import desk
from leaderboard.search.llm.database import LOST_AFTER
from leaderboard.search.llm.models import JournalEntry
from leaderboard.search.models import RunStatus, SearchRun, StopReason
from leaderboard.search.services import runs
from leaderboard.services import site_mode
from runners.models import Device, Runner
from surrogate.llm.outcome import Answer, Failure
from surrogate.llm.prices import upper_bound
from tests.fake_claude import FakeClaude, Reply
from tests.search_llm.conftest import HAIKU, SONNET, code, kernel, purpose
from tests.search_llm.test_runs import Start, access, finish_all, start, stepper_of  # noqa: F401  fixtures
from tests.search_llm.test_search import FORM, Author, thinking
from tests.waiting import wait_for

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


def stopped(
    start: Start,  # noqa: F811
    server: FakeClaude,
    runner: Runner,
    device: Device,
    act: Callable[[SearchRun], Any],
) -> SearchRun:
    """A run that ``act`` stopped while the first kernel was written: no verifier was asked about it."""
    run = start(measurements=4, verifiers=HAIKU)
    stepper_of(run, server).step()
    finish_all(runner, device)
    while_writing(server, lambda: act(run))
    assert not stepper_of(run, server).step()
    assert [purpose(body) for body in server.bodies] == ["form", "translate"]
    return run


def test_a_pause_spares_the_verifiers_until_somebody_resumes(
    start: Start,  # noqa: F811
    server: FakeClaude,
    owner: User,
    runner: Runner,
    device: Device,
) -> None:
    run = stopped(start, server, runner, device, lambda run: runs.pause(run=run, user=owner))
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
    run = stopped(start, server, runner, device, lambda run: runs.cancel(run=run, user=owner))
    run.refresh_from_db()
    assert (run.stop_reason, run.money_reserved, run.tokens_reserved) == (StopReason.CANCELLED, 0, 0)


def test_time_that_runs_out_while_a_model_writes_ends_the_run_before_it_is_asked_again(
    start: Start,  # noqa: F811
    server: FakeClaude,
    runner: Runner,
    device: Device,
) -> None:
    def let_time_pass(run: SearchRun) -> None:
        long_ago = timezone.now() - timedelta(days=40)
        SearchRun.objects.filter(pk=run.pk).update(going_since=long_ago)

    run = stopped(start, server, runner, device, let_time_pass)
    assert stepper_of(run, server).step()
    run.refresh_from_db()
    assert (run.stop_reason, run.money_reserved) == (StopReason.WALL_SECONDS, 0)


def test_a_site_that_becomes_read_only_pays_for_no_further_call(
    start: Start,  # noqa: F811
    server: FakeClaude,
    runner: Runner,
    device: Device,
) -> None:
    run = stopped(start, server, runner, device, lambda _: site_mode.set_read_only(reason="Moving house."))
    stepper = stepper_of(run, server)
    assert not stepper.step()
    assert [purpose(body) for body in server.bodies] == ["form", "translate"]
    site_mode.reopen()
    assert stepper.step()
    assert [purpose(body) for body in server.bodies] == ["form", "translate", *["judge"] * 3]


def test_a_worker_that_ends_waits_for_a_paused_runs_reply_too(
    start: Start,  # noqa: F811
    server: FakeClaude,
    owner: User,
    runner: Runner,
    device: Device,
) -> None:
    run = start(measurements=4)
    stepper_of(run, server).step()
    finish_all(runner, device)
    thought = threading.Event()
    server.responder = thinking(Author(), thought)
    worker = SearchWorker()
    try:
        worker.look()
        wait_for("the first kernel to be asked for", lambda: len(server.requests) == 2)
        runs.pause(run=run, user=owner)
        worker.look()
        assert not worker.wait_for_replies(0)
    finally:
        thought.set()
    assert worker.wait_for_replies(60)
    assert JournalEntry.objects.filter(run=run, kind="replied").count() == len(server.requests) == 2
    run.refresh_from_db()
    assert (run.status, run.money_reserved) == (RunStatus.PAUSED, 0)


def test_an_attempt_that_was_lost_before_a_kill_is_booked_with_the_one_after_it(
    start: Start,  # noqa: F811
    server: FakeClaude,
    runner: Runner,
    device: Device,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody knows what either had been billed."""
    run = start(measurements=4)
    stepper_of(run, server).step()
    finish_all(runner, device)
    server.responder = Author()
    server.script(FORM, code(kernel("one")).failing("stall_within"))  # then one that is answered

    noted = desk.reply_document

    def die_after_two(outcome: Answer | Failure, tokens: int) -> dict[str, Any]:
        if len(outcome.attempts) > 1:
            raise KeyboardInterrupt
        return noted(outcome, tokens)

    with monkeypatch.context() as patch:
        patch.setattr(desk, "reply_document", die_after_two)
        with pytest.raises(KeyboardInterrupt):
            stepper_of(run, server).step()
    asked = JournalEntry.objects.get(run=run, kind="asked", step="g1.i0.s0.t0")
    run.refresh_from_db()
    assert run.money_reserved == pytest.approx(float(asked.document["bound"]))
    once = upper_bound(SONNET, len(asked.document["prompt"].encode()), 16_000)
    assert float(asked.document["bound"]) > 1.9 * float(once)
    old = timezone.now() - LOST_AFTER - timedelta(seconds=1)
    JournalEntry.objects.filter(pk=asked.pk).update(created_at=old)
    spent = run.money_spent
    assert stepper_of(run, server).step()
    run.refresh_from_db()
    assert run.money_spent > spent + float(asked.document["bound"])
    assert (run.money_reserved, run.tokens_reserved) == (0, 0)
