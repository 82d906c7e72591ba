"""``manage.py surrogate``: the process in which forecasters live."""

import contextlib
import os
import sys
import threading
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from runners.devices import cores_beside

#: Timing goes first: this process takes what is left of the machine.
_NICENESS = 10


class Command(BaseCommand):
    help = "Answer questions for forecasts and learn from what is measured, until stopped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--fetch-model", action="store_true", help="bring the local language model first, where missing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        _be_modest()
        # Imported late: numerical libraries read what was just set when they are loaded.
        from surrogate.serving import Server

        Server(fetch_model=options["fetch_model"]).run()
        if any(thread.name == "warm" for thread in threading.enumerate()):
            # That thread may be inside torch, which does not survive the interpreter's end.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)


def _be_modest() -> None:
    threads = str(settings.SURROGATE_THREADS)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, threads)
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that spin would be seen in others' times
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    with contextlib.suppress(OSError):
        os.nice(_NICENESS)
        # Not those on which submissions are timed. Whoever asks for more threads has a host that times none.
        if len(beside := cores_beside()) >= settings.SURROGATE_THREADS:
            os.sched_setaffinity(0, beside)
