"""Measure a device of this machine: ``manage.py calibrate_device SLUG``.

Ceilings (copy bandwidth, matmul rate per dtype, cost of a launch) and the noise of an A/A test are stored on
the device with their date and the digest of the environment.
"""

from argparse import ArgumentParser
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from runners.calibrate import calibration_environment, measure_ceilings
from runners.contract.job import DeviceTarget
from runners.contract.vocabulary import Mode
from runners.devices import find
from runners.instance_lock import InstanceTaken, lock_device
from runners.noise import FEWEST_RUNS, measure_noise
from runners.quiet import wait_for_quiet
from runners.selectors import required_tier
from runners.services import devices, repeats

_PATIENCE = 5.0  # seconds, for as many looks as it takes to call a machine quiet


class Command(BaseCommand):
    help = "Measure the ceilings of a device again, and how much equal runs differ on it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("device", help="slug, cpu or cuda:<index>; a device of this machine")
        parser.add_argument(
            "--runs", type=int, default=10, help=f"of the A/A test: {FEWEST_RUNS} or more, or 0 for none"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        runs: int = options["runs"]
        if runs and runs < FEWEST_RUNS:
            raise CommandError(f"--runs {runs}: {FEWEST_RUNS} at least, or 0 for ceilings alone")
        try:
            detected = find(options["device"])
            lock = lock_device(settings.DATA_DIR / "engine", detected)
        except LookupError as error:
            raise CommandError(str(error)) from error
        except InstanceTaken as error:
            raise CommandError(f"{error}: stop that first, as the two would disturb each other") from error
        with lock:
            device = devices.register_device(detected=detected)
            target = DeviceTarget(detected.kind, detected.index, detected.cores, detected.facts)
            try:
                # The operator chose the moment: a few looks, for the record.
                quiet = wait_for_quiet(_PATIENCE)
                if not quiet.was_quiet:
                    self.stderr.write(
                        f"the machine is busy ({quiet.load:.0%} of its cores taken): ceilings may come out "
                        "too low and the noise too high; do it again once it is idle"
                    )
                ceilings = measure_ceilings(target)
                environment = calibration_environment(detected.facts)
                devices.store_ceilings(device=device, ceilings=ceilings, environment=environment, quiet=quiet)
                self._show_ceilings(ceilings)
                if runs:
                    noise = measure_noise(
                        replace(target, ceilings=ceilings),
                        runs=runs,
                        data_dir=settings.DATA_DIR / "engine",
                        required_tier=required_tier(Mode.RANKED),
                        on_run=lambda number, seconds: self.stderr.write(f"run {number}: {seconds:.6g} s"),
                    )
                    repeats.store_noise(device=device, noise=noise)
                    device.refresh_from_db(fields=["noise"])
                    self.stdout.write(f"noise: {noise.coefficient_of_variation:.3%} over {runs} runs")
                    self.stdout.write(f"with the record of this device {device.noise:.3%} at most")
            except (OSError, RuntimeError) as error:
                raise CommandError(str(error)) from error

    def _show_ceilings(self, ceilings: dict[str, Any]) -> None:
        self.stdout.write(f"copy: {ceilings['copy_bytes_per_s']:.4g} bytes/s")
        self.stdout.write(f"read: {ceilings['read_bytes_per_s']:.4g} bytes/s")
        for dtype, rate in ceilings["flops_per_s"].items():
            self.stdout.write(f"arithmetic, {dtype}: {rate:.4g} operations/s")
        self.stdout.write(f"launch: {ceilings['launch_seconds']:.4g} s")
