"""Everything on one machine: ``manage.py up``."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from kernelhub.launcher import Launcher, LaunchError


class Command(BaseCommand):
    help = "Start PostgreSQL, Redis, the site, the runners and the worker; stop them all on Ctrl-C."
    requires_system_checks = []  # run in the started processes, which know the database

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--fetch-model", action="store_true", help="bring the local language model while the site runs"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            Launcher(self.stdout.write, fetch_model=options["fetch_model"]).run()
        except LaunchError as error:
            raise CommandError(str(error)) from None
