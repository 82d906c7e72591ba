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
    seq = 0
    while rows := selectors.candidates_since(run, seq, limit=3):
        assert [row.seq for row in rows] == sorted(row.seq for row in rows)
        known.update({row.number: row for row in rows})
        seq = rows[-1].seq
    assert len(known) == run.considered
    events: list[SearchEvent] = []
    while more := selectors.events_since(run, events[-1].seq if events else 0, limit=4):
        events += more
    assert len(events) == run.seq
