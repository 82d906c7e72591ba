"""What pages say of candidates of which little is known: no forecast, a place in the queue, an interval."""

import csv
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from leaderboard.models import Spend
from leaderboard.search.models import SearchCandidate, SearchRun
from leaderboard.search.services.stepping import Stepper
from leaderboard.selectors.days import today
from leaderboard.templatetags.formats import SPACE
from runners.models import Device, Runner
from runners.services import evaluations
from tests.search.conftest import finish
from tests.search_pages.conftest import Start

Status = SearchCandidate.Status


@pytest.mark.parametrize(
    ("spread", "p_better", "is_told"),
    [(0.4, 0.3, True), (3.6, 0.3, False), (1.5, None, False)],
    ids=["anchored", "nothing of the template has passed", "nothing at all has passed"],
)
def test_a_forecast_without_anything_to_start_from_tells_no_time(
    ended: SearchRun,
    client_of: Callable[[str], Client],
    spread: float,
    p_better: float | None,
    is_told: bool,
) -> None:
    found = ended.candidates.filter(status=Status.WAITING).first()
    assert found is not None
    ended.candidates.exclude(pk=found.pk).update(forecast_seconds=None, forecast_spread=None)
    found.forecast_seconds, found.forecast_spread, found.p_better = 1.0, spread, p_better
    found.save()
    client, root = client_of("owner"), f"/searches/{ended.pk}"
    table = client.get(f"{root}/table/?sort=forecast").content.decode()
    assert ("Without a time forecast" in table) != is_told
    assert (f"1.0{SPACE}s" in table) == is_told
    points = client.get(f"{root}/data/").json()["points"]
    assert (points["forecast"][points["number"].index(found.number)] == 1.0) == is_told
    page = client.get(f"{root}/candidates/{found.number}/").content.decode()
    # Where a chance is told there was a forecast, and the page does not say that there was none.
    is_wide = p_better is not None and not is_told
    assert ("No forecast of a time" in page) == (p_better is None)
    assert ("too wide to tell a time" in page) == is_wide
    assert ("too wide</span>" in table) == is_wide
    lines = client.get(f"{root}/candidates.csv").content.decode().splitlines()
    row = next(row for row in csv.DictReader(lines) if row["number"] == str(found.number))
    assert row["forecast_seconds"] == ("1.0" if is_told else "")
    told = client.get(f"/api/v1/searches/{ended.pk}/candidates/{found.number}/").json()
    assert (told["forecast_seconds"], told["forecast_spread"]) == ((1.0, spread) if is_told else (None, None))


def test_what_waits_in_the_devices_queue_is_called_queued(
    start: Start, client_of: Callable[[str], Client], runner: Runner, device: Device
) -> None:
    run = start()
    stepper, client = Stepper(run), client_of("owner")
    stepper.step()
    opening = evaluations.claim_next(queue=device.slug, runner=runner)
    assert opening is not None
    finish(opening)
    stepper.step()
    count = run.candidates.filter(status=Status.MEASURING).count()
    assert count > 1
    assert f'<span class="number">{count}</span> queued for the device' in _live(client, run)
    assert "data-queued" in _live(client, run)
    evaluations.claim_next(queue=device.slug, runner=runner)
    assert "a kernel is on the device, " in _live(client, run)
    assert f'<span class="number">{count - 1}</span> queued for the device' in _live(client, run)
    table = client.get(f"/searches/{run.pk}/table/?kind=measuring").content.decode()
    assert table.count("</svg>queued</span>") == count - 1
    assert table.count("</svg>measuring</span>") == 1


def test_best_times_carry_their_interval(ended: SearchRun, client_of: Callable[[str], Client]) -> None:
    client = client_of("owner")
    for path in (f"{ended.pk}/live/", f"{ended.pk}/table/?sort=fastest", ""):
        assert "± 1.0" in client.get(f"/searches/{path}").content.decode(), path


@pytest.mark.parametrize(("spent", "filled"), [(0, "1200"), (9200, "800"), (9900, "1200")])
def test_the_form_begins_with_what_the_day_has_left(
    start: Start,
    client_of: Callable[[str], Client],
    runner: Runner,
    device: Device,
    owner: User,
    spent: int,
    filled: str,
) -> None:
    """A rest that pays for no measurement is no offer: the usual limit waits for the next day."""
    Spend.objects.create(user=owner, device=device, day=today(), spent_seconds=spent)
    html = client_of("owner").get("/searches/new/?task=softmax").content.decode()
    assert f'min="1" step="any" required value="{filled}" aria-describedby="device-help"' in html


def _live(client: Client, run: SearchRun) -> str:
    return client.get(f"/searches/{run.pk}/live/").content.decode()
