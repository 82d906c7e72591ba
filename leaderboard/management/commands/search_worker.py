"""Steps search runs: ``manage.py search_worker``. Several may run at once; each step is taken by one."""

import logging
import threading
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand
from django.db import close_old_connections, connection

from leaderboard.search.models import RunStatus, SearchRun
from leaderboard.search.services import entering, runs
from leaderboard.search.services.stepping import Stepper
from runners.lifetime import Lifetime

logger = logging.getLogger(__name__)

_SECONDS = 0.5  # between two looks; a look is one query over the few runs that are going
_MOST_ERRORS = 3


class SearchWorker:
    """Forgetting everything it holds costs it time only: the event log is the run."""

    def __init__(self) -> None:
        self._steppers: dict[UUID, Stepper] = {}
        self._errors: dict[UUID, int] = {}
        self._asking: dict[UUID, threading.Thread] = {}

    def look(self) -> int:
        """One round over all running searches; how many took a step."""
        going = list(SearchRun.objects.filter(status=RunStatus.RUNNING).order_by("created_at"))
        for gone in (self._steppers.keys() | self._errors.keys()) - {run.pk for run in going}:
            self._steppers.pop(gone, None)  # its own thread may have been first
            self._asking.pop(gone, None)
            self._errors.pop(gone, None)
        taken = sum(self._ask(run) if run.generator == "llm" else self._step(run) for run in going)
        for run in entering.due():
            entering.enter_best(run=run)
        return taken

    def _ask(self, run: SearchRun) -> bool:
        """Step a run whose generator may take minutes to answer without keeping the others waiting.

        One thread a run. They end with the process, like a kill: what was paid for is in the journal.
        """
        thread = self._asking.get(run.pk)
        if thread is not None and thread.is_alive():
            return False
        self._asking[run.pk] = threading.Thread(target=self._step_in_thread, args=(run,), daemon=True)
        self._asking[run.pk].start()
        return True

    def _step_in_thread(self, run: SearchRun) -> None:
        try:
            self._step(run)
        finally:
            connection.close()

    def _step(self, run: SearchRun) -> bool:
        stepper = self._steppers.setdefault(run.pk, Stepper(run))
        try:
            taken = stepper.step()
        except Exception:
            # A fault in one run must not stop the others; it is tried again, then shown to its owner.
            logger.exception("a step of search %s failed", run.pk)
            self._steppers.pop(run.pk, None)
            self._errors[run.pk] = errors = self._errors.get(run.pk, 0) + 1
            if errors >= _MOST_ERRORS:
                self._errors.pop(run.pk, None)  # whoever resumes it has as many tries again
                runs.pause(run=run, user=None, message="Paused: its steps fail by the site's own fault.")
            return False
        self._errors.pop(run.pk, None)
        return taken


class Command(BaseCommand):
    help = "Take the steps of search runs, until stopped."

    def handle(self, *args: Any, **options: Any) -> None:
        worker, lifetime = SearchWorker(), Lifetime()
        logger.info("taking steps of search runs")
        for _ in lifetime.rounds(_SECONDS):
            close_old_connections()
            try:
                worker.look()
            except Exception:
                # A database that is away for a moment must not end the worker.
                logger.exception("looking for searches failed")
