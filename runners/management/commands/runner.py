"""Serve one device: ``manage.py runner --device cpu``."""

import logging
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from runners.calibrate import calibration_environment, measure_ceilings
from runners.contract.job import DeviceTarget
from runners.devices import find
from runners.execution import RunnerContext
from runners.instance_lock import InstanceTaken, lock_device
from runners.models import Device
from runners.quiet import wait_for_quiet
from runners.sandbox.probe import probe
from runners.services import devices
from runners.serving import beating, serve
from runners.supervisor.pool import WarmPool

logger = logging.getLogger(__name__)
_TEND_SECONDS = 1  # between two looks at the supervisor that waits


class Command(BaseCommand):
    help = "Measure what is queued for one device of this machine, until stopped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--device", default="cpu", help="cpu, or cuda:<index>")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            detected = find(options["device"])
            lock = lock_device(settings.DATA_DIR / "engine", detected)
        except (LookupError, InstanceTaken) as error:
            raise CommandError(str(error)) from error
        with lock:
            device = devices.register_device(detected=detected)
            target = DeviceTarget(detected.kind, detected.index, detected.cores, detected.facts)
            environment = calibration_environment(detected.facts)
            proved = probe()
            runner = devices.register_runner(
                device=device, tier=proved.tier_on(device.kind), layers=proved.layers
            )
            if settings.CALIBRATE and devices.is_outdated(device=device, environment=environment):
                # About a minute, in which people shall not read that the device is offline.
                devices.note_measuring(device=device, runner=runner)
                with beating(runner):
                    _calibrate(device, target, environment)
                devices.note_measuring(device=device, runner=None)
            # In this thread, which outlives the one that runs the jobs: a nursery ends with its thread.
            with WarmPool(target, str(settings.DATA_DIR / "engine")) as pool:
                serve(
                    RunnerContext(runner, target, pool), device.slug, every=pool.tend, seconds=_TEND_SECONDS
                )


def _calibrate(device: Device, target: DeviceTarget, environment: Mapping[str, Any]) -> None:
    """On a first start the site's other processes import and convert at the same time: after them."""
    quiet = wait_for_quiet(settings.CALIBRATION_PATIENCE)
    if not quiet.was_quiet:
        logger.warning(
            "%s is calibrated on a busy machine (%.0f %% of its cores taken); once it is idle, "
            "stop this runner and run manage.py calibrate_device %s",
            device.name,
            100 * quiet.load,
            device.slug,
        )
    logger.info("measuring the ceilings of %s", device.name)
    try:
        ceilings = measure_ceilings(target)
        devices.store_ceilings(device=device, ceilings=ceilings, environment=environment, quiet=quiet)
    except (OSError, RuntimeError) as error:
        # The site runs without ceilings; boards then show no share of the roofline.
        logger.warning("could not measure the ceilings of %s: %s", device.name, error)
