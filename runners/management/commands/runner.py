"""Serve one device: ``manage.py runner --device cpu``."""

import logging
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from runners.calibrate import measure_ceilings
from runners.contract.job import DeviceTarget
from runners.devices import DetectedDevice, detect
from runners.execution import RunnerContext
from runners.instance_lock import InstanceTaken, lock_instance
from runners.models import Device
from runners.sandbox.probe import probe
from runners.services import devices
from runners.serving import serve

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Measure what is queued for one device of this machine, until stopped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--device", default="cpu", help="cpu, or cuda:<index>")

    def handle(self, *args: Any, **options: Any) -> None:
        name: str = options["device"]
        detected = _find(name)
        try:
            lock = lock_instance(settings.DATA_DIR / "engine", detected.instance)
        except InstanceTaken as error:
            raise CommandError(str(error)) from error
        with lock:
            device = devices.register_device(detected=detected)
            target = DeviceTarget(detected.kind, detected.index, detected.cores, detected.facts)
            if not device.calibrated_at:
                _calibrate(device, target)
            proved = probe()
            runner = devices.register_runner(device=device, tier=proved.tier, layers=proved.layers)
            serve(RunnerContext(runner, target), device.slug)


def _find(name: str) -> DetectedDevice:
    found = detect()
    for device in found:
        if name in (device.instance, device.slug):
            return device
    known = ", ".join(device.instance for device in found)
    raise CommandError(f"no device {name!r} on this machine; found: {known}")


def _calibrate(device: Device, target: DeviceTarget) -> None:
    logger.info("measuring the ceilings of %s, once", device.name)
    try:
        devices.store_ceilings(device=device, ceilings=measure_ceilings(target))
    except (OSError, RuntimeError) as error:
        # The site runs without ceilings; boards then show no share of the roofline.
        logger.warning("could not measure the ceilings of %s: %s", device.name, error)
