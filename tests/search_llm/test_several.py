"""Several workers at one run of a language model, as an operator may have them."""

import threading
from collections import Counter

import pytest
from django.db import connection
from django.db.models import F

from leaderboard.search.llm.models import JournalEntry
from leaderboard.search.models import RunStatus, SearchRun, StopReason
from leaderboard.search.plan import Plan
from runners.models import Device, Evaluation, Runner
from surrogate.models import SpendDay
from tests.fake_claude import FakeClaude
from tests.search_llm import test_runs
from tests.search_llm.conftest import HAIKU
from tests.search_llm.test_runs import Start, access, finish_all, start, stepper_of  # noqa: F401  fixtures
from tests.search_llm.test_search import Author

pytestmark = pytest.mark.django_db(transaction=True)


def test_three_workers_pay_for_each_call_once_and_keep_to_the_budget(
    start: Start,  # noqa: F811
    server: FakeClaude,
    runner: Runner,
    device: Device,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(test_runs, "PLAN", Plan(slots=3, multiple=1, islands=2, migrate_every=2))
    server.responder = Author()
    run = start(measurements=10, verifiers=HAIKU)
    done, failed = threading.Event(), list[BaseException]()

    def work() -> None:
        try:
            stepper = stepper_of(run, server)
            while not done.is_set():
                stepper.step()
                done.wait(0.01)
        except BaseException as error:  # noqa: BLE001  told below
            failed.append(error)
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    try:
        while SearchRun.objects.filter(pk=run.pk, status=RunStatus.RUNNING).exists() and not failed:
            finish_all(runner, device)
    finally:
        done.set()
        for worker in workers:
            worker.join()
    assert failed == []
    run.refresh_from_db()
    assert (run.stop_reason, run.measurements_spent) == (StopReason.MEASUREMENTS, 10), run.stop_message
    entries = JournalEntry.objects.filter(run=run)
    asked, replied = entries.filter(kind="asked"), entries.filter(kind="replied")
    assert asked.count() == replied.count()
    assert sum(len(row.document["attempts"]) for row in replied) == len(server.requests)
    assert run.money_spent == pytest.approx(sum(float(row.document["cost"]) for row in replied))
    assert (run.money_reserved, run.tokens_reserved) == (0, 0)
    day = SpendDay.objects.get()
    assert (float(day.spent_usd), day.reserved_usd) == (pytest.approx(run.money_spent, abs=1e-4), 0)
    assert list(run.events.order_by("seq").values_list("seq", flat=True)) == list(range(1, run.seq + 1))
    measured = run.candidates.exclude(evaluation=None)
    assert max(Counter(measured.values_list("digest", flat=True)).values()) == 1
    assert Evaluation.objects.filter(search_candidate__run=run).count() == 10
    assert not run.candidates.filter(number__gte=F("run__considered")).exists()
