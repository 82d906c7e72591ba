"""Reads of the measuring side."""

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


def measures_ceilings(runner: Runner, device: Device) -> bool:
    """Whether ``runner`` still measures its device's ceilings, and so takes no work yet."""
    return bool(device.calibration.get("measured_by") == str(runner.pk))


def required_tier(mode: Mode) -> str:
    """The weakest sandbox for a stranger's code. Below T1 it could read the site's database and keys."""
    least = "T0" if settings.ALLOW_WEAK_SANDBOX else "T1"
    return max(least, settings.REQUIRED_TIER, key=tier_number) if mode == Mode.RANKED else least
