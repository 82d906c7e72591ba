"""How much equal runs differ on a device: learned from its own record, and from repeats while it is idle.

Only the site's own runs count, its baselines. A person's kernel may take now this time and now that, and
would tie its entry with the first one's by that.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Min, QuerySet
from django.utils import timezone

from runners.contract.vocabulary import Mode, Verdict
from runners.models import Device, Evaluation, EvaluationStatus, Kernel, Lane, SpecDocument
from runners.noise import ASSUMED, Noise, pooled
from runners.selectors import alive_runners
from runners.services import evaluations

logger = logging.getLogger(__name__)

#: Days that a run counts for.
_REMEMBERED_DAYS = 90
#: A device counts as idle when nothing ran on it for so long.
_IDLE_SECONDS = 30


def tend() -> None:
    """One round over the devices that are served: take in what repeats showed, repeat where it is idle.

    Safe to run in several processes at once.
    """
    served = alive_runners().exclude(device=None).values("device")
    for device in Device.objects.filter(pk__in=served, quarantine_reason=""):
        if _has_news(device):
            learn(device=device)
        repeat_when_idle(device=device)


def store_noise(*, device: Device, noise: Noise) -> None:
    """What an A/A test showed, together with what the record does. Ties on boards go by it from now on."""
    device.calibration = {**device.calibration, "noise_seconds": list(noise.seconds)}
    device.save(update_fields=["calibration"])
    learn(device=device)


def learn(*, device: Device) -> bool:
    """Set the device's noise to what its equal runs say; False when there are too few."""
    found = pooled(_equal_runs(device))
    if found is None:
        return False
    device.noise = found.at_most_beside(ASSUMED[device.kind])
    device.noise_measured_at = timezone.now()
    device.calibration = {
        **device.calibration,
        "noise": {"deviation": found.deviation, "freedom": found.freedom},
    }
    device.save(update_fields=["noise", "noise_measured_at", "calibration"])
    return True


@transaction.atomic
def repeat_when_idle(*, device: Device) -> Evaluation | None:
    """Queue once more the baseline that was run least often, where the record is short and nobody waits."""
    locked = Device.objects.select_for_update(no_key=True, skip_locked=True).filter(pk=device.pk).first()
    if locked is None:
        return None  # somebody else is about to
    known = (locked.calibration.get("noise") or {}).get("freedom", 0)
    if known >= settings.NOISE_REPEATS or not _is_idle(locked):
        return None
    groups = (
        _baseline_runs(locked).values("kernel", "spec").annotate(runs=Count("pk"), cost=Min("device_seconds"))
    )
    chosen = groups.order_by("runs", "cost").first()
    if chosen is None:
        return None
    logger.info("%s is idle: repeating a baseline to learn its noise", locked.slug)
    return evaluations.enqueue(
        kernel=Kernel.objects.get(pk=chosen["kernel"]),
        spec=SpecDocument.objects.get(pk=chosen["spec"]),
        device=locked,
        mode=Mode.RANKED,
        lane=Lane.BASELINE,
    )


def _has_news(device: Device) -> bool:
    """Whether a baseline ended since the noise was set."""
    runs = _baseline_runs(device)
    since = device.noise_measured_at
    return (runs if since is None else runs.filter(finished_at__gt=since)).exists()


def _is_idle(device: Device) -> bool:
    unfinished = Evaluation.objects.filter(queue=device.slug).exclude(status=EvaluationStatus.FINISHED)
    since = timezone.now() - timedelta(seconds=_IDLE_SECONDS)
    lately = Evaluation.objects.filter(
        queue=device.slug, status=EvaluationStatus.FINISHED, finished_at__gt=since
    ).exclude(lane=Lane.BASELINE)
    return not unfinished.exists() and not lately.exists()


def _baseline_runs(device: Device) -> QuerySet[Evaluation]:
    return Evaluation.objects.filter(
        device=device,
        lane=Lane.BASELINE,
        mode=Mode.RANKED,
        status=EvaluationStatus.FINISHED,
        verdict=Verdict.PASSED,
        finished_at__gt=timezone.now() - timedelta(days=_REMEMBERED_DAYS),
    ).order_by()


def _equal_runs(device: Device) -> Iterable[list[float]]:
    """Seconds of runs of one kernel on one task contract each, and those of the newest A/A test."""
    groups: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    runs = _baseline_runs(device).order_by("finished_at")
    rows = runs.values_list("kernel", "spec", "result__score__seconds")
    for kernel, spec, seconds in rows:
        if seconds:
            groups[kernel, spec].append(float(seconds))
    return [*groups.values(), device.calibration.get("noise_seconds", [])]
