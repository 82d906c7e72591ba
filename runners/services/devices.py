"""Registering devices and the processes that serve them."""

import logging
import os
import socket
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil
from django.db import transaction
from django.utils import timezone

from runners.calibrate import environment_digest
from runners.devices import DetectedDevice
from runners.models import Device, Runner
from runners.noise import ASSUMED
from runners.quiet import Quiet
from runners.services.queue import ring
from runners.services.sweeping import release_runner
from runners.signals import device_registered

logger = logging.getLogger(__name__)


def register_device(*, detected: DetectedDevice) -> Device:
    """The device's row with fresh facts. Whether it is open stays as the operator left it. Until its noise is
    measured one is assumed, as equal kernels would be ranked apart without.
    """
    device, _ = Device.objects.update_or_create(
        slug=detected.slug,
        defaults={"kind": detected.kind, "name": detected.name, "facts": dict(detected.facts)},
    )
    if device.noise is None:
        Device.objects.filter(pk=device.pk, noise=None).update(noise=ASSUMED[detected.kind])
        device.refresh_from_db(fields=["noise"])
    return device


def store_ceilings(
    *,
    device: Device,
    ceilings: Mapping[str, Any],
    environment: Mapping[str, Any] | None = None,
    quiet: Quiet | None = None,
) -> None:
    """``environment`` is that of ``calibrate.calibration_environment`` where they were measured, ``quiet``
    what else the machine did right before."""
    device.ceilings = dict(ceilings)
    device.calibrated_at = timezone.now()
    if environment is not None:
        device.calibration = {
            **device.calibration,
            "environment": dict(environment),
            "environment_digest": environment_digest(environment),
        }
    if quiet is not None:
        device.calibration = {**device.calibration, "machine": asdict(quiet)}
    device.save(update_fields=["ceilings", "calibrated_at", "calibration"])


def note_measuring(*, device: Device, runner: Runner | None) -> None:
    """Tell who asks that ``runner`` measures the device's ceilings; None ends it."""
    kept = {key: value for key, value in device.calibration.items() if key != "measured_by"}
    device.calibration = kept if runner is None else {**kept, "measured_by": str(runner.pk)}
    device.save(update_fields=["calibration"])


def is_outdated(*, device: Device, environment: Mapping[str, Any]) -> bool:
    """Whether the ceilings are missing, or were measured under another driver, torch or compiler."""
    if device.calibrated_at is None:
        return True
    known = device.calibration.get("environment_digest")
    return known is not None and known != environment_digest(environment)


def register_runner(*, device: Device | None, tier: str, layers: Mapping[str, str]) -> Runner:
    """This process as a runner, of compile-only work if there is no device.

    Dead runners of this place are released first, so that their work need not wait for its lease.
    """
    host = process_place()
    for other in Runner.objects.filter(host=host, stopped_at=None):
        if not _is_alive(other):
            release_runner(runner=other)
    runner = Runner.objects.create(
        device=device,
        host=host,
        pid=os.getpid(),
        tier=tier,
        layers=dict(layers),
        heartbeat_at=timezone.now(),
    )
    if device is not None:
        device_registered.send(sender=Device, device=device)
    return runner


def process_place() -> str:
    """Where a process id means what it means here: host name, boot and process namespace.

    Containers and cloned machines may share a name, and a reboot hands out the same ids again; asking there
    whether a process lives would release runners that work elsewhere.
    """
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", "")[:12]
    return f"{socket.gethostname()[:200]} {boot}-{os.stat('/proc/self/ns/pid').st_ino}"


def quarantine(*, device: Device, reason: str) -> bool:
    """Give the device no more work until a person releases it; its queue is kept, and people read the reason.

    False when it was quarantined already: the first reason stays.
    """
    words = " ".join(reason.split())[:300]
    if not words:
        raise ValueError("a quarantine needs a reason: people are told it")
    quarantined = Device.objects.filter(pk=device.pk, quarantine_reason="").update(quarantine_reason=words)
    if quarantined:
        logger.error("%s is quarantined: %s", device.slug, words)
    return bool(quarantined)


@transaction.atomic
def release(*, device: Device) -> bool:
    """Give the device work again, beginning with what waited. False when it was not quarantined."""
    held = Device.objects.filter(pk=device.pk).exclude(quarantine_reason="")
    released = held.update(quarantine_reason="")
    if released:
        transaction.on_commit(lambda: ring(device.slug), robust=True)
    return bool(released)


def heartbeat(*, runner: Runner) -> None:
    Runner.objects.filter(pk=runner.pk).update(heartbeat_at=timezone.now())


def _is_alive(runner: Runner) -> bool:
    """Whether a runner of this place still runs. A process id that began later belongs to somebody else."""
    try:
        return bool(psutil.Process(runner.pid).create_time() <= runner.started_at.timestamp())
    except psutil.NoSuchProcess:
        return False
