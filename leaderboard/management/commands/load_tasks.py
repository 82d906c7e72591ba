"""``manage.py load_tasks``: bring the built-in tasks into the database. Safe to repeat."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from leaderboard.catalog.loader import CatalogError
from leaderboard.services.baselines import enqueue_for_online_devices
from leaderboard.services.tasks import UnknownTaskError, load_catalog


class Command(BaseCommand):
    help = "Load the built-in tasks. A changed contract makes a new version."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            loaded = load_catalog()
        except (CatalogError, UnknownTaskError) as error:
            raise CommandError(str(error)) from error
        for item in loaded:
            if item.change != "unchanged" or options["verbosity"] > 1:
                self.stdout.write(f"{item.slug}: {item.change}, version {item.number}")
        self.stdout.write(f"{len(loaded)} tasks are loaded.")
        # Runners that start later ask for theirs themselves.
        if settings.MEASURE_BASELINES and (queued := enqueue_for_online_devices()):
            self.stdout.write(f"{queued} baselines are queued.")
