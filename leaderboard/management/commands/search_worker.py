"""Steps search runs: ``manage.py search_worker``. Several may run at once; each step is taken by one."""

import logging
import os
import threading
import time
from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand
from django.db import close_old_connections, connection

from leaderboard.search.llm.writers import Writer
from leaderboard.search.models import RunStatus, SearchRun
from leaderboard.search.services import entering, runs
from leaderboard.search.services.stepping import Stepper
from runners.lifetime import Lifetime

logger = logging.getLogger(__name__)

_SECONDS = 0.5  # between two looks; a look is a query for each kind of the few runs that need one
_MOST_ERRORS = 3
#: Seconds for replies under way once the process is to end: the launcher kills it after 15.
_LAST_SECONDS = 10.0


class SearchWorker:
    """Forgetting everything it holds costs it time only: the event log is the run."""

    def __init__(self, closing: threading.Event | None = None) -> None:
        """Once ``closing`` is set no language model is asked anything more."""
        self._closing = closing or threading.Event()
        self._steppers: dict[UUID, Stepper] = {}
        self._errors: dict[UUID, int] = {}
        self._asking: dict[UUID, threading.Thread] = {}

    def look(self) -> int:
        """One round over all running searches; how many took a step."""
        runs.resume_due()
        going = list(SearchRun.objects.filter(status=RunStatus.RUNNING).order_by("created_at"))
        known = self._steppers.keys() | self._errors.keys() | self._asking.keys()
        for gone in known - {run.pk for run in going}:
            self._steppers.pop(gone, None)  # its own thread may have been first
            self._errors.pop(gone, None)
            if not self._is_asking(gone):
                self._asking.pop(gone, None)
        taken = sum(self._ask(run) if run.generator == "llm" else self._step(run) for run in going)
        for run in entering.due():
            entering.enter_best(run=run)
        return taken

    def _ask(self, run: SearchRun) -> bool:
        """Step a run whose generator may take minutes to answer without keeping the others waiting.

        One thread a run, also where it was paused and resumed meanwhile: a reply under way is still stored.
        """
        if self._is_asking(run.pk):
            return False
        self._asking[run.pk] = threading.Thread(target=self._step_in_thread, args=(run,), daemon=True)
        self._asking[run.pk].start()
        return True

    def wait_for_replies(self, seconds: float) -> bool:
        """Have what is under way stored, for so long at most; whether nothing is left under way."""
        end = time.monotonic() + seconds
        for thread in self._asking.values():
            thread.join(max(0.0, end - time.monotonic()))
        return not any(self._is_asking(run) for run in self._asking)

    def _is_asking(self, run: UUID) -> bool:
        thread = self._asking.get(run)
        return thread is not None and thread.is_alive()

    def _step_in_thread(self, run: SearchRun) -> None:
        try:
            self._step(run)
        finally:
            connection.close()

    def _step(self, run: SearchRun) -> bool:
        try:
            stepper = self._steppers.get(run.pk)
            if stepper is None:  # making one asks the database
                stepper = self._steppers[run.pk] = self._stepper(run)
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

    def _stepper(self, run: SearchRun) -> Stepper:
        return Stepper(run, Writer(closing=self._closing) if run.generator == "llm" else None)


class Command(BaseCommand):
    help = "Take the steps of search runs, until stopped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--last-seconds",
            type=float,
            default=_LAST_SECONDS,
            help="that replies of language models may still take once it is to stop",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        lifetime = Lifetime()
        worker = SearchWorker(closing=lifetime.over)
        logger.info("taking steps of search runs")
        for _ in lifetime.rounds(_SECONDS):
            close_old_connections()
            try:
                worker.look()
            except Exception:
                # A database that is away for a moment must not end the worker.
                logger.exception("looking for searches failed")
        logger.info("stopping: nothing more is asked, what is under way is stored")
        if not worker.wait_for_replies(options["last_seconds"]):
            # Python would wait for the threads of these calls, for minutes. Like those of a process that was
            # killed they are booked with the most that they may cost: nobody will hear what they did.
            logger.warning("leaving with calls under way")
            logging.shutdown()
            os._exit(0)
