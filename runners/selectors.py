"""Reads of the measuring side."""

from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from runners.contract.vocabulary import Mode
from runners.models import Device, Runner
from runners.sandbox.probe import tier_number


def alive_runners() -> QuerySet[Runner]:
    """Runners that have not stopped and whose heart has beaten within a lease."""
    since = timezone.now() - timedelta(seconds=settings.LEASE_SECONDS)
    return Runner.objects.filter(stopped_at=None, heartbeat_at__gte=since)


def is_measuring_ceilings(device: Device, alive: Iterable[Runner]) -> bool:
    """Whether one of the runners ``alive`` measures the device's ceilings; one that died does not."""
    measured_by = device.calibration.get("measured_by")
    return any(str(runner.pk) == measured_by for runner in alive)


def required_tier(mode: Mode) -> str:
    """The weakest sandbox for a stranger's code. Below T1 it could read the site's database and keys."""
    least = "T0" if settings.ALLOW_WEAK_SANDBOX else "T1"
    return max(least, settings.REQUIRED_TIER, key=tier_number) if mode == Mode.RANKED else least
