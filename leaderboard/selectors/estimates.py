"""How long a run will probably hold its device, from runs that were like it."""

from datetime import timedelta

from django.db.models import Avg, Count, DurationField, ExpressionWrapper, F, Q
from django.utils import timezone

from runners.contract.limits import LIMITS
from runners.contract.vocabulary import Mode, Verdict
from runners.models import Evaluation, EvaluationStatus, Lane

#: Least seconds set aside for a run: start-up and compile vary by more than short runs last.
LEAST_RESERVATION = 30.0
_RECENT = timedelta(days=7)
#: Assumed share of the deadline while nothing like it was measured; used for waits, never for budgets.
_GUESSED_SHARE = 0.25
_LASTED = ExpressionWrapper(F("finished_at") - F("started_at"), output_field=DurationField())


def reservations(spec_digest: str, device_ids: list[int]) -> dict[tuple[int, str], float]:
    """Seconds to set aside per (device, mode) of one task version.

    Twice the recent average of passed runs, at least LEAST_RESERVATION, at most the mode's deadline, and the
    deadline itself while there is no such run. Check mode needs none.
    """
    averages = {
        (row["device_id"], row["mode"]): row["average"]
        for row in Evaluation.objects.filter(
            spec_id=spec_digest,
            device_id__in=device_ids,
            status=EvaluationStatus.FINISHED,
            verdict=Verdict.PASSED,
            finished_at__gte=timezone.now() - _RECENT,
        )
        .order_by()
        .values("device_id", "mode")
        .annotate(average=Avg("device_seconds"))
    }
    found: dict[tuple[int, str], float] = {}
    for device_id in device_ids:
        for mode, limits in LIMITS.items():
            average = averages.get((device_id, str(mode)))
            wanted = limits.deadline if average is None else max(LEAST_RESERVATION, 2 * average)
            found[device_id, str(mode)] = 0.0 if mode == Mode.CHECK else min(limits.deadline, wanted)
    return found


def usual_seconds(queues: list[str]) -> dict[tuple[str, str], float]:
    """Average wall seconds of recent runs per (queue, mode), or a guess from the deadline."""
    averages = {
        (row["queue"], row["mode"]): row["average"].total_seconds()
        for row in Evaluation.objects.filter(
            queue__in=queues,
            status=EvaluationStatus.FINISHED,
            started_at__isnull=False,
            finished_at__gte=timezone.now() - _RECENT,
        )
        .order_by()
        .values("queue", "mode")
        .annotate(average=Avg(_LASTED))
    }
    return {
        (queue, str(mode)): averages.get((queue, str(mode)), limits.deadline * _GUESSED_SHARE)
        for queue in queues
        for mode, limits in LIMITS.items()
    }


def brings_audit(mode: str, lane: int) -> bool:
    """Whether a run of this kind may be audited when it ends, by a run that goes before all that wait."""
    return mode == Mode.RANKED and lane == Lane.PERSON


def may_grow(mode: str, lane: int) -> bool:
    """Whether the wait behind such a run is a guess: nobody knows how often its audit must be repeated."""
    return mode == Mode.RANKED and lane in (Lane.AUDIT, Lane.PERSON)


def audit_rates(queues: list[str]) -> dict[str, float]:
    """Audits per ranked run that people entered lately, by queue. One query.

    One audit more and one run more than there were: a board's first entries are all audited.
    """
    rates = {
        row["queue"]: (row["audits"] + 1) / (row["entered"] + 1)
        for row in Evaluation.objects.filter(
            queue__in=queues,
            mode=Mode.RANKED,
            lane__in=[Lane.AUDIT, Lane.PERSON],
            status=EvaluationStatus.FINISHED,
            finished_at__gte=timezone.now() - _RECENT,
        )
        .order_by()
        .values("queue")
        .annotate(
            audits=Count("pk", filter=Q(lane=Lane.AUDIT)), entered=Count("pk", filter=Q(lane=Lane.PERSON))
        )
    }
    return {queue: rates.get(queue, 1.0) for queue in queues}
