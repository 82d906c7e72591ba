"""What the surrogate's forecasts are worth, per device, from its own record."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from leaderboard.models import Submission
from leaderboard.selectors.forecasts import visible_submissions
from runners.models import Device
from surrogate import live, quality
from surrogate.calibration import MINIMUM
from surrogate.contract.forecast import AbstentionReason
from surrogate.policy import DELTA, RISK
from surrogate.quality import FEWEST, WINDOW, Quality
from surrogate.selectors import record
from surrogate.selectors.record import Row
from surrogate.services.spending import today
from surrogate.standing import standings

#: Rows of the table beside the scatter; the chart holds all.
_MOST_LISTED = 100
_MOST_POINTS = 500

REASONS = {
    AbstentionReason.MALFORMED: "answer broke the contract",
    AbstentionReason.DECLINED: "model declined",
    AbstentionReason.TRUNCATED: "answer was cut off",
    AbstentionReason.TOO_LONG: "kernel too long for it",
    AbstentionReason.TIMEOUT: "measured before it answered",
    AbstentionReason.CANCELLED: "nobody waited any more",
    AbstentionReason.OVER_BUDGET: "out of money or tokens",
    AbstentionReason.UNAVAILABLE: "not available",
    AbstentionReason.UNSUPPORTED: "nothing measured to compare with",
}


@dataclass(frozen=True)
class DeviceLine:
    """One device in the overview; ``quality`` is None where nothing was forecast."""

    device: Device
    quality: Quality | None


@dataclass(frozen=True)
class Point:
    """A forecast beside its measurement, seconds."""

    submission: Submission
    forecast: float
    low: float
    high: float
    measured: float

    @property
    def is_inside(self) -> bool:
        return self.low <= self.measured <= self.high

    @property
    def off_by(self) -> float:
        return self.measured / self.forecast


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    rows = record.shown_rows()
    lines = []
    for device in _devices():
        mine = [row for row in rows if row.device == device.pk]
        lines.append(DeviceLine(device, quality.quality(mine) if mine else None))
    context = {"lines": lines, "worker": live.worker_status(), "minimum": MINIMUM, "fewest": FEWEST}
    return render(request, "surrogate/overview.html", context)


@require_safe
def device(request: HttpRequest, slug: str) -> HttpResponse:
    devices = _devices()
    found = next((item for item in devices if item.slug == slug), None)
    if found is None:
        raise Http404(f"There is no device {slug!r}.")
    rows = record.device_rows(found)
    shown = [row for row in rows if row.is_shown]
    judged = [row for row in shown if row.is_judged]
    points = _points(judged, request)
    reliability = quality.reliability_points(judged)
    risk = quality.risk_points(judged)
    ordering = quality.ordering_over_time(judged)
    calibrations = record.calibrations(found)
    families = record.families(row.spec for row in judged)
    stands = standings(judged, families, calibrations, record.guarantees(found))
    context = {
        "device": found,
        "devices": devices,
        "worker": live.worker_status(),
        "headline": quality.quality(shown) if shown else None,
        "abstentions": _abstentions(shown),
        "forecasters": quality.qualities(rows),
        "calibrations": calibrations,
        "standings": stands,
        "guaranteed": any(item.guarantee and item.guarantee.score is not None for item in stands),
        "risk_promised": RISK,
        "confidence_promised": 1 - DELTA,
        "spend": record.spent_on(today()),
        "points": points[:_MOST_LISTED],
        "hidden_points": len(judged[:_MOST_POINTS]) - len(points),
        "reliability": reliability,
        "risk": risk,
        "ordering": ordering,
        "minimum": MINIMUM,
        "fewest": FEWEST,
        "window": WINDOW,
        "charts": {
            "scatter": [_chart_point(point) for point in points],
            "reliability": [{"x": said, "y": hit, "n": n} for said, hit, n in reliability],
            "risk": [{"x": kept, "y": 2**error} for kept, error in risk],
            "ordering": [{"x": at.timestamp() * 1000, "y": share, "n": n} for at, share, n in ordering],
        },
    }
    return render(request, "surrogate/device.html", context)


def _devices() -> list[Device]:
    return list(Device.objects.order_by("kind", "name", "pk"))


def _points(judged: Sequence[Row], request: HttpRequest) -> list[Point]:
    """Those that the visitor may see, newest first: a private run's time is nobody else's business."""
    newest = judged[:_MOST_POINTS]
    seen: dict[UUID, Submission] = visible_submissions({row.evaluation for row in newest}, request.user)
    return [
        _point(row, seen[row.evaluation])
        for row in newest
        if row.evaluation in seen and row.anchor_seconds and row.seconds
    ]


def _point(row: Row, submission: Submission) -> Point:
    def seconds(log2_ratio: float | None) -> float:
        return float(row.anchor_seconds or math.nan) / 2 ** (log2_ratio or 0.0)

    return Point(submission, seconds(row.mean), seconds(row.high), seconds(row.low), row.seconds or math.nan)


def _chart_point(point: Point) -> dict[str, Any]:
    submission = point.submission
    return {
        "x": point.measured,
        "y": point.forecast,
        "low": point.low,
        "high": point.high,
        "label": f"{submission.version.task.title}, "
        f"{submission.user.get_username() if submission.user else submission.get_baseline_display()}",
        "url": reverse("submission", args=[submission.pk]),
    }


def _abstentions(shown: Sequence[Row]) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for row in shown:
        if row.abstention:
            word = REASONS.get(AbstentionReason(row.abstention), row.abstention)
            counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda item: -item[1])
