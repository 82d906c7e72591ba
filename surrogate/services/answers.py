"""Storing what forecasters said to a question, once and before the measurement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from runners.models import Evaluation
from surrogate.contract.forecast import Abstention, AbstentionReason, Forecast
from surrogate.models import Anchor, CalibrationVersion, GuaranteeVersion, Question
from surrogate.models import Forecast as ForecastRow
from surrogate.policy import TOO_FEW, Decision, Rules, Situation, decide
from surrogate.requests import stored_spec
from surrogate.risk import Scope
from surrogate.services.versions import recipe_of, stored_version
from surrogate.signals import forecast_answered

#: A submission is measured whatever is forecast, so every skip is an audit.
_RULES = Rules(audit_rate=1.0)
TOO_LATE = "The measurement came before the forecast."


@dataclass(frozen=True)
class Given:
    """One forecaster's answer. ``stated`` are its masses before recalibration; ``guarantee`` is what its
    record lets be promised of skips on its word."""

    answer: Forecast | Abstention
    stated: Sequence[float] | None = None
    calibration: CalibrationVersion | None = None
    guarantee: GuaranteeVersion | None = None


def close(
    *,
    question: Question,
    answers: Mapping[str, Given],
    shown: str,
    anchor: Anchor | None,
    made_at: datetime | None = None,
) -> bool:
    """Store one answer per forecaster and close the question; ``shown`` names the one that people see.

    False when it was closed already. An answer made (``made_at``, by default now) after the measurement is no
    forecast and is stored as an abstention.
    """
    made = made_at or timezone.now()
    with transaction.atomic():
        open_still = Question.objects.filter(pk=question.pk, closed_at=None)
        if not open_still.update(closed_at=timezone.now(), anchor=anchor):
            return False
        late = Evaluation.objects.filter(pk=question.evaluation_id, finished_at__lte=made).exists()
        for name, given in answers.items():
            _store(question, _late(given) if late else given, name == shown, anchor, made)
        transaction.on_commit(
            lambda: forecast_answered.send_robust(sender=Question, evaluation=question.evaluation),
            robust=True,
        )
    return True


def _late(given: Given) -> Given:
    answer = given.answer
    return Given(
        Abstention(AbstentionReason.TIMEOUT, TOO_LATE, answer.forecaster, answer.version, usage=answer.usage)
    )


def _store(
    question: Question, given: Given, is_shown: bool, anchor: Anchor | None, made_at: datetime
) -> None:
    answer = given.answer
    usage = answer.usage
    row = ForecastRow(
        question=question,
        forecaster=stored_version(name=answer.forecaster, version=answer.version),
        is_shown=is_shown,
        created_at=made_at,
        latency_seconds=usage.latency_seconds,
        tokens=usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens + usage.output_tokens,
        cost_usd=Decimal(str(usage.cost_usd)),
    )
    if isinstance(answer, Abstention):
        row.abstention, row.message = answer.reason, answer.message[:500]
    else:
        row.document = answer.to_document()
        row.stated = list(given.stated or answer.probabilities)
        row.calibration = given.calibration
        row.mean, (row.low, row.high) = answer.mean, answer.interval()
        row.p_correct, row.confidence = answer.p_correct, answer.confidence
    if is_shown and anchor is not None:
        decision = decision_on(answer, question, anchor, given.guarantee)
        row.action, row.action_reason = decision.action, decision.reason[:300]
        if decision.is_guaranteed:
            row.guarantee = given.guarantee
    row.save(force_insert=True)


def decision_on(
    answer: Forecast | Abstention,
    question: Question,
    anchor: Anchor,
    guarantee: GuaranteeVersion | None = None,
) -> Decision:
    """What the policy says of a submission's kernel."""
    evaluation = question.evaluation
    family = stored_spec(evaluation.spec_id).slug
    recipe = recipe_of(answer.forecaster, answer.version)
    situation = Situation(
        incumbent_ratio(question, anchor),
        device_seconds=0.0,
        remaining_seconds=0.0,
        scope=Scope(answer.forecaster, recipe, evaluation.device.slug, family),
        threshold=guarantee.threshold() if guarantee is not None else None,
        no_threshold=guarantee.doubt if guarantee is not None else TOO_FEW,
    )
    return decide(answer, situation, _RULES, draw=0.0)


def incumbent_ratio(question: Question, anchor: Anchor) -> float:
    """The speed-up over the anchor of the time to beat when the question was asked."""
    return anchor.seconds / (question.incumbent_seconds or anchor.seconds)


def abstained(name: str, version: str, reason: AbstentionReason, message: str) -> Given:
    return Given(Abstention(reason, message, name, version))


def with_latency(answer: Forecast | Abstention, seconds: float) -> Forecast | Abstention:
    """The answer with the time it took here, unless the forecaster told one itself."""
    if answer.usage.latency_seconds > 0:
        return answer
    return replace(answer, usage=replace(answer.usage, latency_seconds=seconds))
