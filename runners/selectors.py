"""Reads of the measuring side."""

from datetime import timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from runners.models import Runner


def alive_runners() -> QuerySet[Runner]:
    """Runners that have not stopped and whose heart has beaten within a lease."""
    since = timezone.now() - timedelta(seconds=settings.LEASE_SECONDS)
    return Runner.objects.filter(stopped_at=None, heartbeat_at__gte=since)
