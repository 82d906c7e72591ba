"""``manage.py search TASK``: search for a fast kernel on this machine, without web, broker or database.

Progress goes to standard error, the outcome to standard output. Exit status: 0 a kernel was found that is
faster than the starter, 1 none was, 2 usage.
"""

import json
import sys
from argparse import ArgumentParser
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from leaderboard import local_runs
from leaderboard.catalog.loader import CatalogError
from leaderboard.local_runs import UsageError
from leaderboard.search.generators.template import template_for
from leaderboard.search.local import LocalSearch, SearchStopped
from leaderboard.search.plan import Plan, Policy
from leaderboard.services.errors import Refusal
from runners.contract.result import ResultDocument
from runners.contract.vocabulary import DeviceKind, Language, Mode
from runners.devices import DetectedDevice
from runners.instance_lock import InstanceTaken, lock_instance
from surrogate.contract.request import KernelText

FASTER, NOT_FASTER, USAGE = 0, 1, 2


class Command(BaseCommand):
    help = "Search for a fast kernel of a built-in task on this machine."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("task", help="name of a built-in task")
        parser.add_argument("--device", default="cpu", help='slug, kind or kind:index, e.g. "cuda:0"')
        parser.add_argument("--generator", choices=["template"], default="template")
        parser.add_argument("--language", default="", help="of the template; the first that fits by default")
        parser.add_argument("--measurements", type=int, default=40, help="the starter's among them")
        parser.add_argument("--policy", choices=[str(item) for item in Policy], default=str(Policy.SURROGATE))
        parser.add_argument("--multiple", type=int, default=16, help="candidates considered per measurement")
        parser.add_argument("--slots", type=int, default=4, help="measurements in a generation")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--mode", choices=[str(Mode.BENCHMARK), str(Mode.RANKED)], default="benchmark")
        parser.add_argument("--save", type=Path, metavar="FILE", help="write the best kernel's source there")
        parser.add_argument("--json", action="store_true", help="write the whole run as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["measurements"] < 1:
            raise CommandError("--measurements must be at least 1", returncode=USAGE)
        try:
            search, device = self._search(options)
            with self._device_to_ourselves(device):
                search.run(options["measurements"])
        except (UsageError, Refusal, CatalogError, ValueError) as error:
            raise CommandError(str(error), returncode=USAGE) from error
        except SearchStopped as error:
            search.stop_reason = str(error)
        report = {"device": device.slug, **search.report()}
        if options["save"] and report["best_source"]:
            options["save"].write_text(report["best_source"], encoding="utf-8")
        self.stdout.write(json.dumps(report, indent=1) if options["json"] else _summary(report))
        if not report["speed_up"] or report["speed_up"] <= 1:
            sys.exit(NOT_FASTER)

    def _search(self, options: dict[str, Any]) -> tuple[LocalSearch, DetectedDevice]:
        task = local_runs.find_task(options["task"])
        device = local_runs.find_device(options["device"])
        template = template_for(task.slug, DeviceKind(device.kind), options["language"])
        if template is None:
            raise UsageError(f"The task {task.slug} has no template for {device.name}.")
        plan = Plan(
            policy=Policy(options["policy"]),
            seed=options["seed"],
            slots=options["slots"],
            multiple=options["multiple"],
        )
        mode = Mode(options["mode"])

        def measure(kernel: KernelText) -> ResultDocument:
            return local_runs.run_source(
                task,
                kernel.source,
                Language(kernel.language),
                device,
                mode,
                name="candidate",
                data_dir=settings.DATA_DIR / "engine",
                required_tier=settings.REQUIRED_TIER if mode == Mode.RANKED else "T0",
                on_event=lambda _event: None,
            )

        return LocalSearch(task, template, plan, measure, self._show), device

    def _device_to_ourselves(self, device: DetectedDevice) -> AbstractContextManager[object]:
        """Keeps runners off the device, or says that one is at work there already."""
        try:
            return lock_instance(settings.DATA_DIR / "engine", device.instance)
        except InstanceTaken as error:
            self.stderr.write(f"{error}: times taken now disturb each other")
            return nullcontext()

    def _show(self, row: dict[str, Any]) -> None:
        taken = f"{row['seconds'] * 1e6:.1f} µs" if row["seconds"] else row["verdict"]
        best = f"best {row['best_seconds'] * 1e6:.1f} µs" if row["best_seconds"] else "none works yet"
        words = " ".join(f"{name}={value}" for name, value in row["parameters"].items()) or "the starter"
        self.stderr.write(f"{row['measurement']:>3}  {taken:>14}  {best:>16}  {row['operator']:<9} {words}")


def _summary(report: dict[str, Any]) -> str:
    if not report["best_seconds"]:
        return f"No kernel worked in {report['measured']} measurements."
    gain = f", {report['speed_up']:.2f} times as fast as the starter" if report["speed_up"] else ""
    words = " ".join(f"{name}={value}" for name, value in report["best_parameters"].items())
    return (
        f"{report['best_seconds'] * 1e6:.1f} µs{gain}, after {report['measured']} measurements of "
        f"{report['considered']} candidates ({report['device_seconds']:.0f} device seconds): {words}"
    )
