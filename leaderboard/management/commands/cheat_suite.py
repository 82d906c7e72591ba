"""``manage.py cheat_suite``: is every known cheat caught here, and every honest kernel let through?

Exit status: 0 all is as expected, 1 something is not, 2 usage.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from leaderboard import local_runs
from leaderboard.corpus.cases import CorpusError, read_corpus
from leaderboard.corpus.judging import Outcome
from leaderboard.corpus.suite import run_suite
from leaderboard.local_runs import UsageError
from leaderboard.reports import duration, printable
from runners.contract.result import Timing
from runners.devices import DetectedDevice
from runners.supervisor.environment import ENGINE_VERSION, environment

_CHEATS = settings.BASE_DIR / "tests" / "cheats"


def _command(options: dict[str, Any]) -> str:
    """What it was called with, without the defaults."""
    words = [*options["cases"], f"--device {options['device']}"]
    if options["corpus"] != _CHEATS:
        words.append(f"--corpus {_from_home(options['corpus'])}")
    words += [f"--{name.replace('_', '-')}" for name in ("after_each", "anyway", "json") if options[name]]
    return " ".join(["manage.py cheat_suite", *words])


def _from_home(path: Path) -> Path:
    """A path that reads the same wherever the repository lies."""
    full = path.resolve()
    return full.relative_to(settings.BASE_DIR) if full.is_relative_to(settings.BASE_DIR) else full


def _provenance(device: DetectedDevice) -> dict[str, Any]:
    """When and on what, without which a report says little."""
    driver = {"driver": device.facts["driver"]} if "driver" in device.facts else {}
    return {
        "date": time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime()),
        "machine": {"device": device.name, "cores": len(device.cores), **driver, **environment()},
        "engine": ENGINE_VERSION,
    }


def _tasks_of(corpus: Path) -> Path:
    """Attacks are written for the tasks of the cheats beside them."""
    return corpus if (corpus / "tasks").is_dir() else corpus.parent / "cheats"


def _time(timing: Timing) -> str:
    """One case's time per call, and how it stands to the floor where the device's rates set one."""
    floor = timing.get("floor_seconds")
    share = f", {timing['seconds'] / floor:.2f} × the floor" if floor and "seconds" in timing else ""
    return f"{timing['case']}: {duration(timing.get('seconds'))} per call{share}"


class Command(BaseCommand):
    help = "Run the corpus of cheats and their honest neighbours through the engine."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("cases", nargs="*", help="only these, e.g. C01; all by default")
        parser.add_argument("--device", default="cpu", help='slug, kind or kind:index, e.g. "cuda:0"')
        parser.add_argument("--anyway", action="store_true", help="use a GPU that something else uses")
        parser.add_argument("--corpus", type=Path, default=_CHEATS)
        parser.add_argument("--after-each", action="store_true", help="run an honest kernel after every one")
        parser.add_argument("--json", action="store_true", help="write the report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            device = local_runs.find_device(options["device"])
            corpus = read_corpus(options["corpus"], tasks=_tasks_of(options["corpus"]))
            wanted = set(options["cases"]) or set(corpus.expectations)
        except (UsageError, CorpusError) as error:
            raise CommandError(str(error), returncode=2) from error
        if unknown := wanted - set(corpus.expectations):
            text = f"{options['corpus']} has no case {', '.join(sorted(unknown))}"
            raise CommandError(text, returncode=2)
        if not any(attempt.case in wanted for attempt in corpus.attempts_on(device.kind)):
            raise CommandError(f"{options['corpus']} has no submission for {device.name}", returncode=2)
        folder = settings.DATA_DIR / "engine"
        start = time.monotonic()
        try:
            anyway, warn = options["anyway"], self.stderr.write
            with local_runs.device_to_ourselves(device, anyway=anyway, warn=warn):
                report = run_suite(
                    corpus,
                    device,
                    folder,
                    only=wanted.__contains__,
                    on_outcome=self._show,
                    after_each=options["after_each"],
                )
        except UsageError as error:
            raise CommandError(str(error), returncode=2) from error
        if options["json"]:
            about = {
                "command": _command(options),
                "seconds": round(time.monotonic() - start, 1),
                **_provenance(device),
            }
            self.stdout.write(json.dumps({**about, **report.to_document()}, indent=2))
        else:
            self.stdout.write(
                f"{report.caught} of {report.total} cheats caught, {report.honest_controls_passed} of "
                f"{report.honest_controls} honest kernels passed; tests cover {len(report.elsewhere)} more"
            )
            for name, why in report.gaps.items():
                self.stdout.write(f"not caught: {name}: {why}")
        if not report.as_expected:
            sys.exit(1)

    def _show(self, outcome: Outcome) -> None:
        attempt = outcome.attempt
        mark = "BROKEN" if outcome.faults else "gap" if attempt.expectation.gap else "ok"
        document = outcome.documents[-1]
        times = ", ".join(map(_time, document["benchmarks"]))
        what = "; ".join(outcome.faults) or document["reason"] or times
        verdict = document["verdict"]
        self.stderr.write(f"{mark:6}  {attempt.name:28}  {verdict:14}  {printable(what[:200])}")
