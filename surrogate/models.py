"""What the surrogate keeps: what was asked, what forecasters said, what was measured, and what it cost."""

import uuid

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from runners.models import Device, Evaluation, SpecDocument
from surrogate.contract.forecast import AbstentionReason
from surrogate.policy import Action
from surrogate.risk import RiskThreshold, Scope, least_cases


class ForecasterVersion(models.Model):
    """One forecaster as it was: ``version`` changes whenever the same question may get another answer.

    ``recipe`` is the part of it that learning does not change. Forecasts are made before their outcomes are
    known, so the record of a recipe that is taught anew now and then is still one of honest forecasts.
    """

    name = models.CharField(max_length=40)
    version = models.CharField(max_length=300)
    recipe = models.CharField(max_length=300)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["name", "version"], name="forecaster_version_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class Anchor(models.Model):
    """A measured kernel that forecasts of its task and device are relative to. The newest one counts.

    Which kernel that is, is told from above: the surrogate knows no baselines.
    """

    spec = models.ForeignKey(SpecDocument, on_delete=models.PROTECT, related_name="anchors")
    device = models.ForeignKey(Device, on_delete=models.PROTECT, related_name="anchors")
    evaluation = models.OneToOneField(Evaluation, on_delete=models.CASCADE, related_name="anchor")
    name = models.CharField(max_length=80)  # as people read it
    seconds = models.FloatField()  # geometric mean over the benchmark cases
    case_seconds = models.JSONField()  # case → seconds
    noise = models.FloatField(default=0)  # of log2(seconds), octaves
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["spec", "device", "-created_at"], name="anchor_newest")]
        constraints = [models.CheckConstraint(name="anchor_took_time", condition=Q(seconds__gt=0))]

    def __str__(self) -> str:
        return f"{self.name}, {self.seconds:.3e} s"


class Question(models.Model):
    """What was asked of the surrogate: how fast will this evaluation's kernel be? Also the worker's queue."""

    evaluation = models.OneToOneField(Evaluation, on_delete=models.CASCADE, related_name="question")
    #: The time to beat on the board when it was asked, seconds.
    incumbent_seconds = models.FloatField(null=True, blank=True)
    anchor = models.ForeignKey(
        Anchor, on_delete=models.SET_NULL, null=True, blank=True, related_name="questions"
    )
    asked_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["asked_at"], name="question_open", condition=Q(closed_at=None))]

    def __str__(self) -> str:
        return f"question {self.pk} on {self.evaluation_id}"


class CalibrationVersion(models.Model):
    """What a forecaster's record on one device and task family taught about its confidence. Never changed."""

    name = models.CharField(max_length=40)
    recipe = models.CharField(max_length=300)
    device = models.ForeignKey(Device, on_delete=models.CASCADE, related_name="calibrations")
    family = models.CharField(max_length=64)
    version = models.CharField(max_length=80)
    outcomes = models.PositiveIntegerField()  # known when it was learned
    document = models.JSONField()  # surrogate.calibration.Calibration
    metrics = models.JSONField()  # {"stated": {...}, "recalibrated": {...}} on the outcomes it learned from
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["name", "recipe", "device", "family", "-created_at"], name="calibration_newest"
            )
        ]

    def __str__(self) -> str:
        return self.version


class GuaranteeVersion(models.Model):
    """What a forecaster's record in one place lets be promised of skips on its word. Never changed.

    With confidence 1 − ``delta``, at most ``risk`` of the kernels that it gives at least the probability
    ``score`` not to beat the incumbent do beat it: new kernels of the task on the device, as unlike each
    other as the held-out ``cases`` are. Without a ``score`` nothing can be promised.
    """

    name = models.CharField(max_length=40)
    recipe = models.CharField(max_length=300)
    device = models.ForeignKey(Device, on_delete=models.CASCADE, related_name="guarantees")
    family = models.CharField(max_length=64)
    outcomes = models.PositiveIntegerField()  # known when it was computed
    cases = models.PositiveIntegerField()  # of them unlike each other, and forecast to be slower
    risk = models.FloatField()
    delta = models.FloatField()
    score = models.FloatField(null=True, blank=True)
    bound = models.FloatField(null=True, blank=True)  # upper confidence bound of the risk, at the threshold
    covered = models.PositiveIntegerField(default=0)  # cases above the threshold
    errors = models.PositiveIntegerField(default=0)  # of them beat the incumbent
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["name", "recipe", "device", "family", "-created_at"], name="guarantee_newest"
            )
        ]
        constraints = [
            models.CheckConstraint(
                name="guarantee_whole_or_none",
                condition=Q(score__isnull=True, bound__isnull=True, covered=0, errors=0)
                | Q(score__isnull=False, bound__isnull=False, covered__gt=0, covered__lte=F("cases")),
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} on {self.family}, {self.cases} cases"

    def threshold(self) -> RiskThreshold | None:
        """None where nothing can be promised."""
        if self.score is None or self.bound is None:
            return None
        scope = Scope(self.name, self.recipe, self.device.slug, self.family)
        counts = (self.cases, self.covered, self.errors)
        return RiskThreshold(self.score, self.risk, self.delta, self.bound, *counts, scope)

    @property
    def doubt(self) -> str:
        """Why nothing can be promised, one sentence; empty where something is."""
        if self.score is not None:
            return ""
        needed = least_cases(self.risk, self.delta)
        if self.cases < needed:
            return f"Only {self.cases} unlike kernels forecast to lose were judged; it takes {needed}."
        return f"Too many won after all of the {self.cases} judged kernels that were forecast to lose."


class Forecast(models.Model):
    """What one forecaster said to a question, or why it said nothing. Never changed.

    The one marked ``is_shown`` is what people see; the others are kept so that forecasters can be compared
    on the same kernels. Ratios are log2(t_anchor / t_kernel), octaves.
    """

    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="forecasts")
    forecaster = models.ForeignKey(ForecasterVersion, on_delete=models.PROTECT, related_name="forecasts")
    is_shown = models.BooleanField(default=False)
    document = models.JSONField(null=True, blank=True)  # contract.forecast.Forecast; null: it abstained
    stated = models.JSONField(null=True, blank=True)  # bin masses before recalibration
    mean = models.FloatField(null=True, blank=True)
    low = models.FloatField(null=True, blank=True)  # ends of the central 80 % interval
    high = models.FloatField(null=True, blank=True)
    p_correct = models.FloatField(null=True, blank=True)
    confidence = models.FloatField(null=True, blank=True)
    calibration = models.ForeignKey(CalibrationVersion, on_delete=models.SET_NULL, null=True, blank=True)
    #: Only where ``action`` is a skip, or the audit of one, that it covers.
    guarantee = models.ForeignKey(GuaranteeVersion, on_delete=models.SET_NULL, null=True, blank=True)
    abstention = models.CharField(
        max_length=16, blank=True, default="", choices=[(item, item) for item in AbstentionReason]
    )
    message = models.CharField(max_length=500, blank=True, default="")  # why it abstained
    #: What the policy would have a search do. A person's kernel is measured whatever it says, so that a
    #: skip always becomes an audit.
    action = models.CharField(max_length=8, blank=True, default="", choices=[(item, item) for item in Action])
    action_reason = models.CharField(max_length=300, blank=True, default="")
    latency_seconds = models.FloatField(default=0)
    tokens = models.PositiveIntegerField(default=0)
    cost_usd = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    created_at = models.DateTimeField(default=timezone.now)  # when it was made

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["question", "forecaster"], name="forecast_once"),
            models.UniqueConstraint(
                fields=["question"], condition=Q(is_shown=True), name="forecast_one_shown"
            ),
            models.CheckConstraint(
                name="forecast_or_abstention",
                condition=Q(document__isnull=False, mean__isnull=False, abstention="")
                | (Q(document__isnull=True, mean__isnull=True) & ~Q(abstention="")),
            ),
        ]
        ordering = [F("created_at").desc()]

    def __str__(self) -> str:
        return f"forecast {self.pk} of question {self.question_id}"


class Outcome(models.Model):
    """What measuring said of a kernel, relative to an anchor. Forecasters learn from these."""

    evaluation = models.OneToOneField(Evaluation, on_delete=models.CASCADE, related_name="outcome")
    anchor = models.ForeignKey(Anchor, on_delete=models.CASCADE, related_name="outcomes")
    is_correct = models.BooleanField()
    seconds = models.FloatField(null=True, blank=True)  # null: it failed, or was checked and not timed
    log2_ratio = models.FloatField(null=True, blank=True)
    noise = models.FloatField(default=0)  # octaves
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["-created_at"], name="outcome_newest")]
        constraints = [
            models.CheckConstraint(
                name="outcome_timed_whole",
                condition=Q(seconds__isnull=True, log2_ratio__isnull=True)
                | Q(seconds__gt=0, log2_ratio__isnull=False, is_correct=True),
            )
        ]

    def __str__(self) -> str:
        return f"outcome of {self.evaluation_id}"


class SpendDay(models.Model):
    """What language models of a vendor cost on one UTC day, US dollars. Reserved before, settled after."""

    day = models.DateField(unique=True)
    reserved_usd = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    spent_usd = models.DecimalField(max_digits=14, decimal_places=6, default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="spend_day_not_negative", condition=Q(reserved_usd__gte=0, spent_usd__gte=0)
            )
        ]

    def __str__(self) -> str:
        return f"${self.spent_usd} on {self.day}"


class SpendReservation(models.Model):
    """Money set aside for one call. One whose process died is booked whole when it expires."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    spend = models.ForeignKey(SpendDay, on_delete=models.CASCADE, related_name="reservations")
    amount_usd = models.DecimalField(max_digits=14, decimal_places=6)
    spent_usd = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    purpose = models.CharField(max_length=200)
    expires_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["expires_at"], name="reservation_open", condition=Q(settled_at=None))]

    def __str__(self) -> str:
        return f"${self.amount_usd} for {self.purpose}"
