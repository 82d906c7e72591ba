"""``manage.py search_export RUN``: a run's candidates and outcomes as a pool for ``search_replay``."""

import gzip
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from leaderboard.search.models import SearchRun
from leaderboard.search.selectors.recordings import recording_of
from leaderboard.search.selectors.runs import get_any


class Command(BaseCommand):
    help = "Write a search run's candidates as JSON lines; a name that ends in .gz is packed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", help="id of the run")
        parser.add_argument("--output", type=Path, metavar="FILE", help="standard output by default")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            run = get_any(options["run"])
        except SearchRun.DoesNotExist:
            raise CommandError(f"there is no search run {options['run']!r}") from None
        lines = recording_of(run)
        path: Path | None = options["output"]
        if path is None:
            for line in lines:
                self.stdout.write(line, ending="")
            return
        opener = gzip.open if path.suffix == ".gz" else open
        try:
            with opener(path, "wt", encoding="utf-8") as file:
                count = sum(bool(file.write(line)) for line in lines) - 1  # the first line is about the run
        except OSError as error:
            raise CommandError(f"cannot write {path}: {error.strerror}") from error
        # Apart from standard output, as that is the file's where none is named.
        self.stderr.write(f"wrote {count} candidate{'' if count == 1 else 's'} of run {run.pk} to {path}")
