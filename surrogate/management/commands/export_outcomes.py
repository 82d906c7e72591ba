"""``manage.py export_outcomes``: what was measured here, as data to learn from and to judge by."""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from surrogate.datasets.export import outcome_document
from surrogate.requests import known_outcomes


class Command(BaseCommand):
    help = (
        "Write this site's outcomes as JSON lines, for evaluate_surrogate --data. "
        "They hold the sources of private submissions too: keep the file as safe as the database."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--output", type=Path, help="a new file; standard output by default")
        parser.add_argument("--limit", type=int, default=100_000, help="the newest so many")

    def handle(self, *args: Any, **options: Any) -> None:
        lines = (json.dumps(outcome_document(outcome)) for outcome in known_outcomes(options["limit"]))
        target: Path | None = options["output"]
        if target is None:
            for line in lines:
                print(line)
            return
        try:
            with target.open("x", encoding="utf-8") as file:  # never over another one
                count = sum(bool(file.write(f"{line}\n")) for line in lines)
        except FileExistsError:
            raise CommandError(f"{target} exists and is never written over: name a new file") from None
        except OSError as error:
            raise CommandError(f"cannot write {target}: {error.strerror}") from error
        print(f"wrote {count} outcome{'' if count == 1 else 's'} to {target}", file=sys.stderr)
