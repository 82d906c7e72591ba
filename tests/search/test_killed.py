"""A site searches while its processes are killed: web, runner, search worker and Redis, each in mid-run.

What must hold is read from the tables afterwards: nothing measured or paid for twice, nothing lost.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import Any, TypeVar

import psutil
import psycopg
import pytest
from psycopg.rows import dict_row

from kernelhub.embedded.addresses import known_addresses
from tests.gpu.site_process import KILLED, Person, Site, running_site
from tests.processes import command_line
from tests.waiting import wait_for

T = TypeVar("T")
SEED = 5
#: The task whose kernels are measured soonest, and as few of them as there are processes to kill, and one.
TASK, MEASUREMENTS = "sum", 5
#: Of the launcher's processes, by words of their command line.
VICTIMS = {
    "web": "uvicorn",
    "runner": "runner --device",
    "search worker": "search_worker",
    "Redis": "redis-server",
}
#: Moments of an evaluation at which somebody is killed, and the one at which the search takes its next step.
STAGES, BETWEEN = ("verify", "time"), "a step"


class Tables:
    """The site's own database, read beside it."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._connection.execute(query, values).fetchall()
        return found

    def one(self, query: str, *values: Any) -> Any:
        (row,) = self.rows(query, *values)
        return row if len(row) > 1 else next(iter(row.values()))


def connected(site: Site) -> psycopg.Connection[dict[str, Any]]:
    url = known_addresses(site.log.parent / "data").database_url
    return psycopg.connect(url, row_factory=dict_row, autocommit=True)


@contextmanager
def site_of_one_task() -> Iterator[Site]:
    with running_site(
        KERNELHUB_TASKS=TASK,
        KERNELHUB_BASELINES="no",
        KERNELHUB_DEVICES="cpu",
        KERNELHUB_SURROGATE="no",
        KERNELHUB_CALIBRATE="no",
        KERNELHUB_TIMING_PERCENT="5",
    ) as site:
        yield site


@pytest.mark.sandbox
@pytest.mark.whole_site
def test_a_search_outlives_the_death_of_every_process() -> None:
    random = Random(SEED)
    with site_of_one_task() as site, connected(site) as connection:
        person, tables = Person(site), Tables(connection)
        device = wait_at(site, "a runner", partial(online, tables, site), 0.1)
        run = person.post(
            "/api/v1/searches/",
            {
                "task": TASK,
                "device": device,
                "measurements": MEASUREMENTS,
                "slots": 2,
                "multiple": 4,
                "enters_best": False,
            },
        )["id"]
        order = random.sample(list(VICTIMS), len(VICTIMS))
        for place, name in enumerate(order):
            least, stage = max(1, place), BETWEEN if name == "search worker" else random.choice(STAGES)
            what = f"{stage} after {least} measurements, to kill {name}"
            at = wait_at(site, what, partial(at_moment, tables, site, run, least, stage), 0.01)
            process = process_of(site, name)
            assert process is not None, name
            process.kill()
            wait_at(site, f"{name} to be back", partial(another, site, name, process.pid), 0.05)
            if name == "runner":
                interrupted = at
        wait_at(site, "the run to end", partial(ended, tables, site, run), 0.2)
        check_the_log(tables, run)
        check_the_money(tables, run)
        check_the_evaluations(tables, run, interrupted)
        wait_for("the page", site.answers, 60, 0.1)
        told = person.get(f"/api/v1/searches/{run}/")
        assert (told["status"], told["stop_reason"]) == ("finished", "measurements")
        assert site.stop() != KILLED, site.words()


def check_the_log(tables: Tables, run: str) -> None:
    """Numbered without gaps, no kernel measured twice, and every candidate at an end."""
    events = tables.rows("SELECT * FROM search_searchevent WHERE run_id = %s ORDER BY seq", run)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    measured = [event["document"]["digest"] for event in events if event["kind"] == "measured"]
    assert len(measured) == len(set(measured)) == MEASUREMENTS
    considered = [
        item["digest"]
        for event in events
        if event["kind"] == "generation"
        for item in event["document"]["new"]
    ]
    candidates = tables.rows("SELECT * FROM search_searchcandidate WHERE run_id = %s", run)
    assert sorted(item["digest"] for item in candidates) == sorted(considered)
    assert {item["status"] for item in candidates} <= {"waiting", "measured", "failed", "dropped"}
    assert all((item["evaluation_id"] is None) == (item["status"] == "waiting") for item in candidates)
    done = {item["digest"] for item in candidates if item["status"] in ("measured", "failed")}
    assert done == set(measured)


def check_the_money(tables: Tables, run: str) -> None:
    """What the run, its owner's day and the site's day have spent is what the evaluations took."""
    row = tables.one("SELECT * FROM search_searchrun WHERE id = %s", run)
    assert (row["measurements_spent"], row["measurements_reserved"]) == (MEASUREMENTS, 0)
    assert row["considered"] == tables.one(
        "SELECT count(*) FROM search_searchcandidate WHERE run_id = %s", run
    )
    taken = tables.one("SELECT sum(device_seconds) FROM runners_evaluation")
    assert row["device_seconds_spent"] == pytest.approx(taken)
    assert row["device_seconds_spent"] <= row["device_seconds_limit"]
    assert row["device_seconds_reserved"] == pytest.approx(0)
    days = tables.rows(
        "SELECT spent_seconds, reserved_seconds FROM leaderboard_spend "
        "UNION ALL SELECT spent_seconds, reserved_seconds FROM leaderboard_sitespend"
    )
    assert sum(day["spent_seconds"] for day in days) == pytest.approx(2 * taken)
    assert sum(day["reserved_seconds"] for day in days) == pytest.approx(0)
    assert tables.one("SELECT count(*) FROM leaderboard_reservation") == 0


def check_the_evaluations(tables: Tables, run: str, interrupted: int) -> None:
    """One for each measured candidate and no other, all finished; what the kill hit was taken up again."""
    evaluations = tables.rows(
        "SELECT e.*, c.status AS became FROM runners_evaluation e "
        "LEFT JOIN search_searchcandidate c ON c.evaluation_id = e.id AND c.run_id = %s",
        run,
    )
    assert {item["status"] for item in evaluations} == {"finished"}
    assert None not in {item["became"] for item in evaluations}, "an evaluation that no candidate knows"
    kept = [item for item in evaluations if item["became"] != "dropped"]
    assert len(kept) == MEASUREMENTS
    assert len({item["kernel_id"] for item in kept}) == MEASUREMENTS
    (again,) = [item for item in evaluations if item["id"] == interrupted]
    assert again["attempts"] >= 2
    assert again["verdict"] == "passed", again["reason"]


def wait_at(site: Site, what: str, look: Callable[[], T], pause: float) -> T:
    """As ``wait_for``; what the site said stands with what did not come."""
    try:
        return wait_for(what, look, 600, pause)  # several evaluations, on a machine that may be busy
    except AssertionError as error:
        raise AssertionError(f"{error}\n{site.words()}") from error


def online(tables: Tables, site: Site) -> str | None:
    """The device's slug, once its runner has proved its sandbox and beats."""
    _look_after(site)
    found = tables.rows(
        "SELECT d.slug FROM runners_runner r JOIN runners_device d ON d.id = r.device_id "
        "WHERE r.stopped_at IS NULL"
    )
    return found[0]["slug"] if found else None


def at_moment(tables: Tables, site: Site, run: str, least: int, stage: str) -> Any:
    """The id of an evaluation that is in ``stage`` once the run has ``least`` measurements."""
    _look_after(site)
    row = tables.one("SELECT * FROM search_searchrun WHERE id = %s", run)
    assert row["status"] == "running", (row["status"], row["stop_message"], site.words())
    if row["measurements_spent"] < least:
        return None
    if stage == BETWEEN:
        return None if row["measurements_reserved"] else run
    running = tables.rows("SELECT id FROM runners_evaluation WHERE status = 'running' AND stage = %s", stage)
    return running[0]["id"] if running else None


def ended(tables: Tables, site: Site, run: str) -> bool:
    _look_after(site)
    row = tables.one("SELECT * FROM search_searchrun WHERE id = %s", run)
    assert row["status"] != "paused", row["stop_message"]
    return bool(row["status"] == "finished")


def process_of(site: Site, name: str) -> psutil.Process | None:
    """What the site runs by that name, None while there is nothing."""
    children = psutil.Process(site.process.pid).children()
    return next((item for item in children if VICTIMS[name] in command_line(item)), None)


def another(site: Site, name: str, pid: int) -> bool:
    """Whether the site has started another one than ``pid``."""
    _look_after(site)
    found = process_of(site, name)
    return found is not None and found.pid != pid


def _look_after(site: Site) -> None:
    if site.process.poll() is not None:
        raise RuntimeError(f"the site ended with {site.process.returncode}:\n{site.words()}")
