"""``manage.py site_mode read-only --reason "…"`` stops submissions, ``open`` takes them again."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from leaderboard.selectors.site import site_status
from leaderboard.services import site_mode


class Command(BaseCommand):
    help = "Show or switch whether the site takes submissions."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("mode", nargs="?", choices=["read-only", "open"], help="shows it if left out")
        parser.add_argument("--reason", default="", help="why it is read-only; every visitor reads it")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["mode"] == "read-only":
                site_mode.set_read_only(reason=options["reason"])
            elif options["mode"] == "open":
                site_mode.reopen()
        except ValueError as error:
            raise CommandError(str(error), returncode=2) from error
        status = site_status()
        mode = f"read-only: {status.reason}" if status.is_read_only else "open"
        self.stdout.write(
            f"{mode}; {status.left:.0f} of {status.allowance:.0f} device seconds are left today"
        )
