"""``manage.py search TASK``: search for a fast kernel on this machine, without web, broker or database.

Progress goes to standard error, the outcome to standard output. Exit status: 0 a kernel was found that is
faster than the starter, 1 none was, 2 usage.
"""

import json
import os
import sys
from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from leaderboard import local_runs
from leaderboard.catalog.loader import CatalogError, CatalogTask
from leaderboard.local_runs import UsageError
from leaderboard.search.generators.template import template_for
from leaderboard.search.llm.arms import cheapest, parse_arms
from leaderboard.search.llm.journal import FileJournal, MemoryJournal
from leaderboard.search.llm.local import LlmSearch, Spending, catalog_library, identity_of, language_for
from leaderboard.search.local import LocalSearch, Measure, SearchStopped
from leaderboard.search.plan import Plan, Policy
from leaderboard.services.errors import Refusal
from runners.contract.result import ResultDocument
from runners.contract.vocabulary import DeviceKind, Language, Mode
from runners.devices import DetectedDevice
from surrogate.contract.request import KernelText
from surrogate.llm.config import NO_KEY, Config

FASTER, NOT_FASTER, USAGE = 0, 1, 2


class Command(BaseCommand):
    help = "Search for a fast kernel of a built-in task on this machine."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("task", help="name of a built-in task")
        parser.add_argument("--device", default="cpu", help='slug, kind or kind:index, e.g. "cuda:0"')
        parser.add_argument("--anyway", action="store_true", help="use a GPU that something else uses")
        parser.add_argument("--generator", choices=["template", "llm"], default="template")
        parser.add_argument("--language", default="", help="of the kernels; the first that fits by default")
        parser.add_argument("--measurements", type=int, default=40, help="the starter's among them")
        parser.add_argument("--policy", choices=[str(item) for item in Policy], default=str(Policy.SURROGATE))
        parser.add_argument(
            "--multiple", type=int, help="candidates considered per measurement; 16, of a language model 2"
        )
        model = parser.add_argument_group("language model")
        model.add_argument("--models", default="", help='e.g. "claude-sonnet-5-5:high claude-haiku-5-5"')
        model.add_argument("--money", default="", help="US dollars that all its calls together may cost")
        model.add_argument("--tokens", type=int, help="tokens that all its calls together may take")
        model.add_argument(
            "--verifiers", default="", help='model that reads kernels first; the cheapest, or "none"'
        )
        model.add_argument(
            "--journal", type=Path, metavar="FILE", help="keep what was paid for, and go on there"
        )
        model.add_argument(
            "--no-profiles", action="store_true", help="have no profiler look at the kernels it builds on"
        )
        parser.add_argument("--slots", type=int, default=4, help="measurements in a generation")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--mode", choices=[str(Mode.BENCHMARK), str(Mode.RANKED)], default="benchmark")
        parser.add_argument("--save", type=Path, metavar="FILE", help="write the best kernel's source there")
        parser.add_argument("--json", action="store_true", help="write the whole run as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["measurements"] < 1:
            raise CommandError("--measurements must be at least 1", returncode=USAGE)
        try:
            device = local_runs.find_device(options["device"])
            anyway, warn = options["anyway"], self.stderr.write
            with local_runs.device_to_ourselves(device, anyway=anyway, warn=warn):
                if options["generator"] == "llm":
                    written = self._llm_search(options, device)
                    search, report_of = written.search, written.report
                    search.on_row = self._show
                else:
                    search = self._search(options, device)
                    report_of = search.report
                search.run(options["measurements"])
        except (UsageError, Refusal, CatalogError, ValueError) as error:
            raise CommandError(str(error), returncode=USAGE) from error
        except SearchStopped as error:
            search.stop_reason = str(error)
        report = {"device": device.slug, **report_of()}
        if options["save"] and report["best_source"]:
            options["save"].write_text(report["best_source"], encoding="utf-8")
        if options["generator"] == "llm":
            self.stderr.write(f"{search.stop_reason} ${report['money_spent']:.4f} were spent.")
        self.stdout.write(json.dumps(report, indent=1) if options["json"] else _summary(report))
        if not report["speed_up"] or report["speed_up"] <= 1:
            sys.exit(NOT_FASTER)

    def _search(self, options: dict[str, Any], device: DetectedDevice) -> LocalSearch:
        task = local_runs.find_task(options["task"])
        template = template_for(task.slug, DeviceKind(device.kind), options["language"])
        if template is None:
            raise UsageError(f"The task {task.slug} has no template for {device.name}.")
        measure = self._measure(options, task, device)
        return LocalSearch(task, template, _plan(options, multiple=16), measure, self._show)

    def _llm_search(self, options: dict[str, Any], device: DetectedDevice) -> LlmSearch:
        task, kind = local_runs.find_task(options["task"]), DeviceKind(device.kind)
        language = language_for(task, kind, options["language"])
        if language is None:
            raise UsageError(f"The task {task.slug} takes no such language on {device.name}.")
        config = Config.from_environment(os.environ)
        if not config.has_key:
            raise UsageError(NO_KEY)
        arms = parse_arms(options["models"] or " ".join(config.models))
        named = options["verifiers"]
        verify = None if named == "none" else parse_arms(named)[0] if named else cheapest(arms)
        plan, mode = _plan(options, multiple=2), Mode(options["mode"])
        identity = identity_of(task, language, device, mode, plan, arms, verify)
        journal = FileJournal(options["journal"], identity) if options["journal"] else MemoryJournal()
        return LlmSearch(
            task,
            language,
            device,
            local_runs.ceilings_for(device, mode, settings.DATA_DIR / "engine"),
            plan,
            self._measure(options, task, device),
            arms=arms,
            spending=Spending(_money(options["money"]), options["tokens"]),
            config=config,
            journal=journal,
            verify=verify,
            library=catalog_library(task, kind),
            profile=None if options["no_profiles"] else self._measure(options, task, device, Mode.PROFILE),
        )

    def _measure(
        self, options: dict[str, Any], task: CatalogTask, device: DetectedDevice, as_mode: Mode | None = None
    ) -> Measure:
        mode = as_mode or Mode(options["mode"])

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
                ceilings=lambda: local_runs.ceilings_for(device, mode, settings.DATA_DIR / "engine"),
            )

        return measure

    def _show(self, row: dict[str, Any]) -> None:
        taken = f"{row['seconds'] * 1e6:.1f} µs" if row["seconds"] else row["verdict"]
        best = f"best {row['best_seconds'] * 1e6:.1f} µs" if row["best_seconds"] else "none works yet"
        words = " ".join(f"{name}={value}" for name, value in row["parameters"].items()) or "the starter"
        self.stderr.write(f"{row['measurement']:>3}  {taken:>14}  {best:>16}  {row['operator']:<9} {words}")


def _plan(options: dict[str, Any], *, multiple: int) -> Plan:
    return Plan(
        policy=Policy(options["policy"]),
        seed=options["seed"],
        slots=options["slots"],
        multiple=options["multiple"] or multiple,
    )


def _money(text: str) -> Decimal:
    """Raises UsageError: a search that costs money is told how much it may cost."""
    try:
        money = Decimal(text)
    except InvalidOperation:
        money = Decimal(0)
    if not (money.is_finite() and money > 0):
        raise UsageError("--money must say how many US dollars the search may cost, e.g. --money 2.50")
    return money


def _summary(report: dict[str, Any]) -> str:
    if not report["best_seconds"]:
        return f"No kernel worked in {report['measured']} measurements."
    gain = f", {report['speed_up']:.2f} times as fast as the starter" if report["speed_up"] else ""
    words = " ".join(f"{name}={value}" for name, value in report["best_parameters"].items())
    return (
        f"{report['best_seconds'] * 1e6:.1f} µs{gain}, after {report['measured']} measurements of "
        f"{report['considered']} candidates ({report['device_seconds']:.0f} device seconds): {words}"
    )
