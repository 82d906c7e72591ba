"""Compile-only work and the sweeper: ``manage.py worker``."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from runners.execution import RunnerContext
from runners.sandbox.probe import probe
from runners.services.devices import register_runner
from runners.services.queue import CHECK_QUEUE
from runners.services.sweeping import sweep
from runners.serving import serve


class Command(BaseCommand):
    help = "Serve check-mode evaluations and take up what dead runners left, until stopped."

    def handle(self, *args: Any, **options: Any) -> None:
        proved = probe()
        runner = register_runner(device=None, tier=proved.tier, layers=proved.layers)

        def sweep_once() -> None:
            sweep()

        serve(RunnerContext(runner, None), CHECK_QUEUE, every=sweep_once, seconds=settings.SWEEP_SECONDS)
