"""What charts read: from any number on, the parts add up to the whole."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from leaderboard.search.drawing import FEWEST
from leaderboard.search.models import SearchEvent, SearchRun
from leaderboard.search.plan import Plan, Policy
from leaderboard.search.selectors import charts
from leaderboard.search.services import runs
from leaderboard.search.services.stepping import Stepper
from runners.contract.vocabulary import Verdict
from runners.models import Device, Runner
from tests.search.conftest import claimed, finish, measure_all
from tests.search_pages.conftest import Start, to_end


def read(client: Client, run: SearchRun, since: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(client.get(f"/searches/{run.pk}/data/?since={since}").content)
    return found


def merged(parts: list[dict[str, Any]]) -> dict[int, tuple[Any, ...]]:
    """As the page does: the newest word on each candidate."""
    points: dict[int, tuple[Any, ...]] = {}
    for part in parts:
        columns = part["points"]
        points |= {
            number: row
            for number, *row in zip(
                columns["number"], columns["kind"], columns["seconds"], columns["forecast"], strict=True
            )
        }
    return points


def improvements(parts: list[dict[str, Any]]) -> list[tuple[int, float]]:
    found: list[tuple[int, float]] = []
    for part in parts:
        steps = part["steps"]
        for step in zip(steps["measurements"], steps["seconds"], strict=True):
            if not found or step[1] < found[-1][1]:
                found.append(step)
    return found


def test_parts_read_while_it_goes_add_up_to_the_whole(
    start: Start, runner: Runner, device: Device, client_of: Callable[[str], Client]
) -> None:
    run, client = start(measurements=10), client_of("owner")
    stepper, parts = Stepper(run), []
    while stepper.step():
        for evaluation in claimed(runner, device):
            finish(evaluation)
            parts.append(read(client, run, parts[-1]["seq"] if parts else 0))
    parts.append(read(client, run, parts[-1]["seq"]))
    whole = read(client, run)
    assert merged(parts) == merged([whole])
    assert improvements(parts) == improvements([whole])
    assert len(merged([whole])) == 37
    last = parts[-1]
    assert (last["points"]["number"], last["steps"]["number"]) == ([], [])
    assert read(client, run, whole["seq"])["points"]["number"] == []


def test_an_event_that_is_larger_than_an_answer_is_whole_over_several(
    ended: SearchRun, monkeypatch: pytest.MonkeyPatch, client_of: Callable[[str], Client]
) -> None:
    monkeypatch.setattr(charts, "LIMIT", 3)
    ended.candidates.update(seq=ended.seq)  # one event changed them all
    client, numbers = client_of("owner"), []
    asked = f"?since={ended.seq - 1}"
    while asked:
        found = json.loads(client.get(f"/searches/{ended.pk}/data/{asked}").content)
        assert len(found["points"]["number"]) <= 3
        numbers += found["points"]["number"]
        asked = "" if found["after"] is None else f"?since={found['seq']}&after={found['after']}"
    assert numbers == list(range(ended.considered))
    assert found["seq"] == ended.seq


def test_pauses_count_for_no_time(ended: SearchRun) -> None:
    before = charts.steps(ended)[-1].elapsed
    events = list(ended.events.order_by("seq"))
    middle = events[len(events) // 2]
    # What came after the middle came an hour later, and for that hour the run was paused.
    for event in reversed(events):  # from the end, as numbers are there once
        later = timedelta(hours=event.seq > middle.seq)
        ended.events.filter(pk=event.pk).update(seq=event.seq * 10, created_at=event.created_at + later)
    for place, (kind, hours) in enumerate((("paused", 0), ("resumed", 1)), 1):
        event = SearchEvent.objects.create(run=ended, seq=middle.seq * 10 + place, kind=kind)
        ended.events.filter(pk=event.pk).update(created_at=middle.created_at + timedelta(hours=hours))
    ended.seq *= 10
    assert charts.steps(ended)[-1].elapsed == pytest.approx(before, abs=1e-3)


def test_a_band_is_of_kernels_that_nothing_chose_where_there_are_enough(
    start: Start, runner: Runner, device: Device, owner: User, client_of: Callable[[str], Client]
) -> None:
    mine = to_end(start(measurements=13, plan=Plan(slots=12, multiple=2)), runner, device)
    control = to_end(start(measurements=12, plan=Plan(Policy.RANDOM, slots=4)), runner, device)
    drawn = charts.drawn(mine, owner)
    assert drawn is not None
    assert (drawn.is_sieved, drawn.sample) == (False, 10)  # neither starter nor template's start are drawn
    # Who may not see the control may not learn its times either.
    runs.set_visibility(run=mine, user=owner, is_public=True)
    hidden = read(client_of("outsider"), mine)["band"]
    assert hidden["is_sieved"] is True
    assert hidden["sample"] >= FEWEST  # its own, which the surrogate let through
    assert read(client_of("owner"), control)["band"]["sample"] == 10


def test_failures_are_drawn_and_counted(
    start: Start, runner: Runner, device: Device, client_of: Callable[[str], Client]
) -> None:
    run = start(measurements=10)
    stepper = Stepper(run)
    stepper.step()
    measure_all(runner, device)
    stepper.step()
    for evaluation in claimed(runner, device):
        finish(evaluation, verdict=Verdict.WRONG)
    run.refresh_from_db()
    whole = read(client_of("owner"), run)
    failed = [row for row in merged([whole]).values() if whole["kinds"][row[0]] == "failed"]
    assert len(failed) == 3
    assert all(seconds is None for _, seconds, _ in failed)
    assert whole["steps"]["measurements"] == [1, 4]
