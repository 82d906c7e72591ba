"""``manage.py evaluate TASK FILE``: measure a kernel on this machine, without web, broker or database.

Progress goes to standard error, the outcome to standard output. Exit status: 0 passed, 1 not passed, 2 usage.
"""

import json
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from leaderboard import local_runs, reports
from leaderboard.case_names import spelling_of
from leaderboard.local_runs import FixtureOutcome, UsageError
from leaderboard.services.errors import Refusal
from runners.contract.vocabulary import Language, Mode
from runners.devices import DetectedDevice

PASSED, NOT_PASSED, USAGE = 0, 1, 2


class Command(BaseCommand):
    help = "Evaluate a kernel, or with --catalog every built-in good and wrong one, on this machine."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("task", nargs="?", help="name of a built-in task, or path of a task folder")
        parser.add_argument("file", nargs="?", type=Path, help="the source")
        parser.add_argument("--device", default="cpu", help='slug, kind or kind:index, e.g. "cuda:0"')
        parser.add_argument("--anyway", action="store_true", help="use a GPU that something else uses")
        parser.add_argument("--mode", choices=[str(mode) for mode in Mode])
        parser.add_argument("--language", choices=[str(item) for item in Language], default="")
        parser.add_argument("--json", action="store_true", help="write the result document(s) as JSON")
        parser.add_argument(
            "--catalog",
            action="store_true",
            help="run every good and wrong fixture, of TASK or of all tasks, and check its verdict",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["catalog"] and (options["task"] is None or options["file"] is None):
            raise CommandError("name a task and a file, or give --catalog", returncode=USAGE)
        if options["catalog"] and options["file"] is not None:
            raise CommandError("--catalog takes no file", returncode=USAGE)
        try:
            device = local_runs.find_device(options["device"])
            with self._device_to_ourselves(device, options):
                passed = self._catalog(options, device) if options["catalog"] else self._file(options, device)
        except (UsageError, Refusal) as error:
            raise CommandError(str(error), returncode=USAGE) from error
        if not passed:
            sys.exit(NOT_PASSED)

    def _device_to_ourselves(
        self, device: DetectedDevice, options: dict[str, Any]
    ) -> AbstractContextManager[object]:
        if options["mode"] == Mode.CHECK:
            return nullcontext()  # compiled and no more
        return local_runs.device_to_ourselves(device, anyway=options["anyway"], warn=self.stderr.write)

    def _file(self, options: dict[str, Any], device: DetectedDevice) -> bool:
        task = local_runs.find_task(options["task"])
        mode = Mode(options["mode"] or Mode.RANKED)
        spell = spelling_of(task.spec.cases)
        document = local_runs.run_file(
            task,
            options["file"],
            device,
            mode,
            language=options["language"],
            on_event=lambda event: self._show(reports.event_line(event, spell)),
            ceilings=lambda: local_runs.ceilings_for(device, mode, settings.DATA_DIR / "engine"),
            **_place(mode),
        )
        text = json.dumps(document, indent=2) if options["json"] else reports.result_text(document, spell)
        self.stdout.write(text)
        return document["verdict"] == "passed"

    def _catalog(self, options: dict[str, Any], device: DetectedDevice) -> bool:
        mode = Mode(options["mode"] or Mode.TEST)
        outcomes: list[FixtureOutcome] = []
        slugs = [options["task"]] if options["task"] else []
        for task, fixture, is_good in local_runs.fixtures_for(device, slugs):
            try:
                document = local_runs.run_file(
                    task, fixture.path, device, mode, on_event=lambda _event: None, **_place(mode)
                )
            except Refusal as error:
                raise UsageError(f"{fixture.path}: {error}") from error
            outcomes.append(FixtureOutcome(task, fixture, is_good, document))
            mark = "ok    " if outcomes[-1].as_expected else "BROKEN"
            self._show(reports.printable("  ".join((mark, *_row(outcomes[-1])))))
        broken = [outcome for outcome in outcomes if not outcome.as_expected]
        told = f"{len(outcomes)} fixtures, {len(broken)} not as expected"
        if options["json"]:
            self.stdout.write(json.dumps([_summary(outcome) for outcome in outcomes], indent=2))
            self.stderr.write(told)
            return bool(outcomes) and not broken
        if broken:  # the others were shown as they ended
            head = ("task", "fixture", "expected", "verdict", "reason")
            self.stdout.write(reports.table([head, *map(_row, broken)]))
        self.stdout.write(told)
        return bool(outcomes) and not broken

    def _show(self, line: str) -> None:
        if line:
            self.stderr.write(line)


def _place(mode: Mode) -> dict[str, Any]:
    required = settings.REQUIRED_TIER if mode == Mode.RANKED else "T0"
    return {"data_dir": settings.DATA_DIR / "engine", "required_tier": required}


def _row(outcome: FixtureOutcome) -> tuple[str, ...]:
    return (
        outcome.task.slug,
        f"{outcome.fixture.path.parent.name}/{outcome.fixture.path.name}",
        outcome.fixture.verdict,
        outcome.document["verdict"],
        spelling_of(outcome.task.spec.cases)(outcome.document["reason"])[:100],
    )


def _summary(outcome: FixtureOutcome) -> dict[str, Any]:
    return {
        "task": outcome.task.slug,
        "fixture": f"{outcome.fixture.path.parent.name}/{outcome.fixture.path.name}",
        "note": outcome.fixture.note,
        "is_good": outcome.is_good,
        "expected": outcome.fixture.verdict,
        "as_expected": outcome.as_expected,
        "verdict": outcome.document["verdict"],
        "reason": outcome.document["reason"],
    }
