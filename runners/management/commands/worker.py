"""Compile-only work and the sweeper: ``manage.py worker``."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from runners.execution import RunnerContext
from runners.rounds import Rounds
from runners.sandbox.probe import probe
from runners.services import repeats, retention
from runners.services.devices import register_runner
from runners.services.queue import CHECK_QUEUE
from runners.services.sweeping import sweep
from runners.serving import serve

_NOISE_SECONDS = 30  # between two looks at how much equal runs differ
_RETENTION_SECONDS = 600  # between two looks for raw data that are old enough to go


class Command(BaseCommand):
    help = "Serve check-mode evaluations and take up what dead runners left, until stopped."

    def handle(self, *args: Any, **options: Any) -> None:
        proved = probe()
        runner = register_runner(device=None, tier=proved.tier, layers=proved.layers)

        housekeeping = Rounds({sweep: 0, repeats.tend: _NOISE_SECONDS, retention.prune: _RETENTION_SECONDS})
        serve(RunnerContext(runner, None), CHECK_QUEUE, every=housekeeping, seconds=settings.SWEEP_SECONDS)
