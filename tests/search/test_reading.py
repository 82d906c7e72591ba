"""Reading runs: who may, and by number of the last change."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from leaderboard.search.models import SearchEvent, SearchRun
from leaderboard.search.selectors import runs as selectors
from runners.models import Device, Runner
from tests.search.test_runs import run_to_end

Start = Callable[..., SearchRun]


def test_private_runs_look_absent_to_others(start: Start, owner: User, outsider: User) -> None:
    run = start()
    assert selectors.get_visible(run.pk, owner) == run
    for viewer in (outsider, None):
        with pytest.raises(SearchRun.DoesNotExist):
            selectors.get_visible(run.pk, viewer)
    SearchRun.objects.filter(pk=run.pk).update(is_public=True)
    assert selectors.get_visible(str(run.pk), None) == run
    with pytest.raises(SearchRun.DoesNotExist):
        selectors.get_visible("no id", owner)


def test_pages_read_what_came_after_their_cursor(start: Start, runner: Runner, device: Device) -> None:
    run = run_to_end(start(measurements=7), runner, device)
    known: dict[int, Any] = {}
    seq, number, rounds = 0, None, 0
    while rows := selectors.candidates_since(run, seq, number, limit=3):
        assert len(rows) <= 3, "also where one event changed more"
        assert [row.seq for row in rows] == sorted(row.seq for row in rows)
        known.update({row.number: row for row in rows})
        seq, number, rounds = rows[-1].seq, rows[-1].number, rounds + 1
    assert len(known) == run.considered
    assert rounds == -(-run.considered // 3), "nothing comes twice"
    events: list[SearchEvent] = []
    while more := selectors.events_since(run, events[-1].seq if events else 0, limit=4):
        events += more
    assert len(events) == run.seq


def test_events_that_tell_of_many_candidates_come_a_few_at_a_time(
    start: Start, runner: Runner, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_to_end(start(measurements=7), runner, device)
    monkeypatch.setattr(selectors, "MOST_TOLD", 13)
    monkeypatch.setattr(selectors, "_BATCH", 2)
    events: list[SearchEvent] = []
    rounds = 0
    while more := selectors.events_since(run, events[-1].seq if events else 0):
        told = [len(event.document.get("new", ())) + len(event.document.get("changed", ())) for event in more]
        assert sum(told[:-1]) < 13, "only the last one goes past it"
        events += more
        rounds += 1
    assert [event.seq for event in events] == list(range(1, run.seq + 1))
    assert rounds > 1
