"""Devices as people ask after them: online, how busy, how long one waits."""

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import Count

from leaderboard.selectors import estimates
from runners.models import Device, Evaluation, EvaluationStatus
from runners.selectors import alive_runners


@dataclass(frozen=True)
class DeviceStatus:
    device: Device
    online: bool
    runners: int  # alive now
    queued: int
    running: int
    wait_seconds: float  # expected wait of a run entered now
    quarantine_reason: str


def device_statuses() -> list[DeviceStatus]:
    """Every device by name. Four queries, however many devices there are."""
    devices = list(Device.objects.order_by("kind", "name", "pk"))
    alive = runners_alive()
    counts: dict[tuple[str, str, str], int] = defaultdict(int)
    for row in (
        Evaluation.objects.filter(status__in=[EvaluationStatus.QUEUED, EvaluationStatus.RUNNING])
        .order_by()
        .values("queue", "status", "mode")
        .annotate(number=Count("pk"))
    ):
        counts[row["queue"], row["status"], row["mode"]] += row["number"]
    usual = estimates.usual_seconds([device.slug for device in devices])
    return [_status(device, alive.get(device.pk, 0), counts, usual) for device in devices]


def runners_alive() -> dict[int, int]:
    """Number of runners per device id that have beaten their heart lately."""
    rows = alive_runners().order_by().values("device_id").annotate(number=Count("pk"))
    return {row["device_id"]: row["number"] for row in rows}


def _status(
    device: Device,
    alive: int,
    counts: dict[tuple[str, str, str], int],
    usual: dict[tuple[str, str], float],
) -> DeviceStatus:
    queued = running = 0
    work = 0.0
    for (queue, status, mode), number in counts.items():
        if queue != device.slug:
            continue
        if status == EvaluationStatus.QUEUED:
            queued += number
            work += number * usual[queue, mode]
        else:
            running += number
            work += number * usual[queue, mode] / 2  # on average half of it is still to come
    return DeviceStatus(
        device, alive > 0, alive, queued, running, work / max(1, alive), device.quarantine_reason
    )
