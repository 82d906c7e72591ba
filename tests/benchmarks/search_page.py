"""What the page of a search costs with 10,000 candidates: server time, bytes, and how a browser keeps up.

    nice -n 15 python -m tests.benchmarks.search_page > tests/benchmarks/results/search_page.json

The candidates are rows made up for this: 10,000 considered in 157 generations, 625 measured, all of one source, as
no list reads sources. Server times are those of Django's own client: median of several calls in one process, no
network. Then a real server and Chromium: a generation of 64 candidates comes in with four outcomes, and the page
must show it. Needs Chromium; PostgreSQL and Redis are started and thrown away.
"""  # noqa: E501 - a command to copy

# ruff: noqa: E402 - Django must be set up, on servers of its own, before anything that imports models
import gzip
import json
import math
import os
import random
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kernelhub.settings")

import django

import tests.embedded  # noqa: F401 - starts the servers

django.setup()

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext, get_runner, setup_test_environment
from django.utils import timezone
from playwright.sync_api import Locator, sync_playwright

from kernelhub import frontend
from leaderboard.catalog.loader import CATALOG, load
from leaderboard.models import TaskVersion
from leaderboard.search.models import SearchCandidate, SearchEvent, SearchRun
from leaderboard.search.services import runs
from leaderboard.search.services.log import add_event, lock
from leaderboard.services import tasks
from runners.contract.vocabulary import DeviceKind, Language
from runners.models import Device
from runners.services.kernels import store_kernel
from surrogate.management.commands.evaluate_surrogate import machine
from tests.browser.conftest import ARGUMENTS, find_chromium
from tests.ports import free_port
from tests.waiting import wait_for

CANDIDATES, GENERATION, MEASURED = 10_000, 64, 4
REPEATS = 9
Status = SearchCandidate.Status
_WATCH = """() => {
    window.longest = 0;
    new PerformanceObserver((list) => {
        for (const task of list.getEntries()) window.longest = Math.max(window.longest, task.duration);
    }).observe({ entryTypes: ["longtask"] });
}"""


class Made:
    """A run that grows by generations of made-up candidates."""

    def __init__(self) -> None:
        tasks.load_task(source=load(CATALOG / "softmax"))
        assert TaskVersion.objects.filter(task__slug="softmax", is_current=True).exists()
        Device.objects.create(slug="cpu-made", kind=DeviceKind.CPU, name="made up", facts={"cores": 2})
        self.user = User.objects.create_user("owner")
        limits = runs.Limits(measurements=350, device_seconds=1e5, wall_seconds=1e5)
        self.run = runs.start(
            user=self.user, task_slug="softmax", device_slug="cpu-made", limits=limits, is_public=True
        )
        SearchRun.objects.filter(pk=self.run.pk).update(measurements_limit=10_000)
        self.kernel = store_kernel(language=Language.CPP, source="// one for all\n")
        self.random = random.Random(5)
        self.count, self.best = 0, 1.0
        self.good: list[str] = []

    def grow(self, generation: int) -> int:
        """One generation and its outcomes, in one transaction; the number of its last event."""
        with transaction.atomic():
            run = lock(self.run.pk)
            first = add_event(run=run, kind=SearchEvent.Kind.GENERATION, document={}).seq
            rows = [self._row(generation, place, first) for place in range(min(GENERATION, CANDIDATES))]
            for row in rows[:MEASURED]:
                row.seconds = 1e-2 * (0.2 + self.random.random() + 50 / (50 + generation))
                log2_seconds = math.log2(row.seconds)
                document = {"digest": row.digest, "number": row.number, "log2_seconds": log2_seconds}
                event = add_event(
                    run=run, kind=SearchEvent.Kind.MEASURED, document={**document, "device_seconds": 15.0}
                )
                row.status, row.seq = Status.MEASURED, event.seq
                self.best = min(self.best, row.seconds)
                self.good.append(row.digest)
            SearchCandidate.objects.bulk_create(rows)
            self.count += len(rows)
            SearchRun.objects.filter(pk=run.pk).update(
                considered=self.count, generations=generation + 1, best_seconds=self.best,
                measurements_spent=len(self.good), starter_seconds=2e-2,
            )  # fmt: skip
            return run.seq

    def _row(self, generation: int, place: int, seq: int) -> SearchCandidate:
        number = self.count + place
        return SearchCandidate(
            run=self.run, number=number, digest=f"{number:064x}", kernel=self.kernel, generation=generation,
            parameters={"chunk": number % 64, "exponential": "poly4", "lanes": 16, "store": "again"},
            operator=self.random.choice(("random", "neighbour", "crossover")), island=number % 2, seq=seq,
            action=self.random.choice(("skip", "skip", "defer")) if place else "audit",
            parents=self.random.sample(self.good[-40:], 1) if self.good else [],
            reason="It beats the incumbent with probability 1.0% only.",
            forecast_seconds=1e-2 * (0.5 + self.random.random()), forecast_spread=0.4, p_better=0.01,
        )  # fmt: skip


def served(client: Client, path: str) -> dict[str, Any]:
    """Server seconds, bytes and queries of one address."""
    seconds = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        answer = client.get(path)
        seconds.append(time.perf_counter() - begun)
        assert answer.status_code == 200, path
    with CaptureQueriesContext(connection) as asked:
        client.get(path)
    body = answer.content
    return {
        "server_ms": round(1000 * statistics.median(seconds), 1),
        "bytes": len(body),
        "bytes_gzip": len(gzip.compress(body, 6)),
        "queries": len(asked),
    }


@contextmanager
def site() -> Iterator[str]:
    """The web process alone, on the same database."""
    frontend.build(settings.BASE_DIR)
    call_command("collectstatic", interactive=False, verbosity=0)
    port = free_port()
    name = connection.settings_dict["NAME"]
    address = os.environ["DATABASE_URL"].replace("/postgres?", f"/{name}?")
    command = [
        sys.executable,
        "-m",
        "uvicorn",
        "kernelhub.asgi:application",
        "--port",
        str(port),
        "--log-level",
        "error",
    ]
    process = subprocess.Popen(
        command, env={**os.environ, "DATABASE_URL": address}, stdout=subprocess.DEVNULL
    )
    try:
        wait_for("the web process", lambda: process.poll() is None and answers(port), 180)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def apart(act: Callable[[], int]) -> int:
    """In a thread without playwright's event loop, on a connection of its own."""

    def closing() -> int:
        try:
            return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(closing).result()


def shown(chart: Locator, seq: int) -> None:
    """Waits until the chart tells of event ``seq``."""
    end = time.monotonic() + 60
    while int(chart.get_attribute("data-seq") or 0) < seq:
        if time.monotonic() > end:
            raise TimeoutError(f"the chart does not tell of event {seq}")
        chart.page.wait_for_timeout(10)


def watched(made: Made, grow: Callable[[], int]) -> dict[str, Any]:
    """How soon a browser shows the whole, then each of several increments, and its longest busy stretch."""
    with site() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.add_init_script(f"({_WATCH})()")
        bytes_read: list[int] = []
        page.on("response", lambda answer: "/data/" in answer.url and bytes_read.append(len(answer.body())))
        chart = page.locator("#candidates-chart")
        opened = []
        for _ in range(3):
            begun = time.perf_counter()
            page.goto(f"{address}/searches/{made.run.pk}/")
            shown(chart, 1)
            opened.append(time.perf_counter() - begun)
        first_task = page.evaluate("window.longest")
        increments, tasks_ms = [], []
        for _ in range(5):
            page.wait_for_timeout(2500)  # parts around the charts are read at most every 2 s
            page.evaluate("window.longest = 0")
            seq = apart(grow)
            begun = time.perf_counter()
            shown(chart, seq)
            increments.append(time.perf_counter() - begun)
            tasks_ms.append(page.evaluate("window.longest"))
        browser.close()
    return {
        "open_to_drawn_s": round(statistics.median(opened), 2),
        "longest_task_on_open_ms": round(first_task),
        "event_to_drawn_s": [round(value, 2) for value in increments],
        "longest_task_on_increment_ms": [round(value) for value in tasks_ms],
        "increment_bytes": bytes_read[-1],
    }


def main() -> None:
    load_before = os.getloadavg()[0]
    setup_test_environment()
    runner = get_runner(settings)(verbosity=0, interactive=False)
    databases = runner.setup_databases()
    try:
        made, seq = Made(), 0
        for generation in range(CANDIDATES // GENERATION + 1):
            before, seq = seq, made.grow(generation)
        begun = timezone.now() - timedelta(hours=3)
        SearchRun.objects.filter(pk=made.run.pk).update(going_since=begun)
        client, base = Client(), f"/searches/{made.run.pk}/"
        pages = {
            "page": "", "live part": "live/", "table": "table/", "table, likeliest": "table/?sort=likeliest",
            "record": "record/", "charts, whole": "data/", "charts, one generation": f"data/?since={before}",
            "lineage": "lineage/", "CSV of all": "candidates.csv",
        }  # fmt: skip
        found = {name: served(client, base + tail) for name, tail in pages.items()}
        generations = iter(range(CANDIDATES // GENERATION + 1, 10**6))
        seen = watched(made, lambda: made.grow(next(generations)))
    finally:
        runner.teardown_databases(databases)
    document = {
        "command": "python -m tests.benchmarks.search_page",
        "machine": {**machine(), "load_average_before": load_before},
        "versions": {"django": django.get_version(), "postgresql": "embedded"},
        "candidates": CANDIDATES // GENERATION * GENERATION + GENERATION,
        "measured": (CANDIDATES // GENERATION + 1) * MEASURED,
        "served": found,
        "browser": seen,
    }
    json.dump(document, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
