"""``manage.py export_board TASK --device SLUG``: a board as CSV or JSON, ordered as the pages order it."""

import csv
import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from leaderboard.api.serializers import BoardOut
from leaderboard.models import Task, TaskVersion
from leaderboard.selectors import boards, tasks
from runners.contract.vocabulary import Work
from runners.models import Device

_COLUMNS = (
    "rank",
    "tied",
    "standing",
    "username",
    "baseline",
    "seconds",
    "ci_low",
    "ci_high",
    "speedup",
    "roofline",
    "language",
    "work",
    "machine_written",
)


class Command(BaseCommand):
    help = "Write a leaderboard to standard output. Times are seconds."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("task", help="slug of the task")
        parser.add_argument("--device", required=True, help="slug of the device")
        parser.add_argument("--task-version", type=int, help="number of the version, else the current one")
        parser.add_argument("--kernels", choices=list(Work), default="", help="whose kernels ran, else all")
        parser.add_argument("--format", choices=["csv", "json"], default="csv")

    def handle(self, *args: Any, **options: Any) -> None:
        board = self._board(options)
        if options["format"] == "json":
            self.stdout.write(json.dumps(BoardOut(board).data, indent=2))
            return
        writer = csv.writer(self.stdout)
        writer.writerow([*_COLUMNS, "created_at", *(column.name for column in board.cases)])
        for row in board.rows:
            cells = [cell.seconds if cell else "" for cell in row.cases]
            values = [_plain(getattr(row, name)) for name in _COLUMNS]
            writer.writerow([*values, row.created_at.isoformat(), *cells])

    def _board(self, options: dict[str, Any]) -> boards.Board:
        try:
            task = tasks.get_task(options["task"])
            number = options["task_version"]
            version = tasks.current_version(task) if number is None else tasks.get_version(task, number)
            return boards.board(
                version, Device.objects.get(slug=options["device"]), kernels=options["kernels"]
            )
        except Task.DoesNotExist:
            known = ", ".join(Task.objects.values_list("slug", flat=True)) or "none"
            raise CommandError(f"there is no task {options['task']!r} (known: {known})") from None
        except TaskVersion.DoesNotExist:
            raise CommandError(f"{options['task']} has no such version") from None
        except Device.DoesNotExist:
            known = ", ".join(Device.objects.values_list("slug", flat=True)) or "none"
            raise CommandError(f"there is no device {options['device']!r} (known: {known})") from None


def _plain(value: object) -> object:
    """A cell of the table. A name that a spreadsheet would run as a formula is quoted."""
    if value is None:
        return ""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t"):
        return f"'{value}"
    return value
