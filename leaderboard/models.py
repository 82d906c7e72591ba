"""What people see: tasks and their versions, submissions, scores, budgets and tokens."""

import uuid

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q

from runners.contract.vocabulary import Mode, Work
from runners.models import Device, Evaluation, Kernel, SpecDocument


class Task(models.Model):
    """What must be computed. Its versions hold the contract; rankings never mix versions."""

    slug = models.SlugField(unique=True, max_length=64)
    title = models.CharField(max_length=120)
    summary = models.CharField(max_length=300)
    position = models.PositiveSmallIntegerField(default=100)
    is_open = models.BooleanField(
        default=True, help_text="Closed tasks refuse submissions and keep their boards."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["position", "slug"]

    def __str__(self) -> str:
        return self.title


class TaskVersion(models.Model):
    """One contract of a task. A changed reference, case or tolerance makes a new one."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    spec = models.ForeignKey(SpecDocument, on_delete=models.PROTECT, related_name="task_versions")
    statement = models.TextField()  # Markdown
    starters = models.JSONField(default=dict)  # "python", "python-cuda" (Triton), "cpp", "cuda" → source
    is_current = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "number"], name="task_version_number"),
            models.UniqueConstraint(fields=["task", "spec"], name="task_version_spec"),
            models.UniqueConstraint(fields=["task"], condition=Q(is_current=True), name="task_one_current"),
        ]

    def __str__(self) -> str:
        return f"{self.task} v{self.number}"


class Baseline(models.TextChoices):
    EAGER = "eager", "reference, eager"
    COMPILED = "compiled", "reference, torch.compile"


class Submission(models.Model):
    """A person's act of entering a Kernel; also how the baselines of a task are entered (user null)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="submissions"
    )
    baseline = models.CharField(max_length=16, choices=Baseline, blank=True, default="")
    version = models.ForeignKey(TaskVersion, on_delete=models.PROTECT, related_name="submissions")
    device = models.ForeignKey(Device, on_delete=models.PROTECT, related_name="submissions")
    kernel = models.ForeignKey(Kernel, on_delete=models.PROTECT, related_name="submissions")
    mode = models.CharField(max_length=16, choices=[(item, item) for item in Mode])
    evaluation = models.OneToOneField(Evaluation, on_delete=models.PROTECT, related_name="submission")
    is_public = models.BooleanField(
        default=False, help_text="Whether others may read the source and its run."
    )
    machine_written = models.BooleanField(
        default=False, help_text="Whether a search found the kernel and entered it in its owner's name."
    )
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [models.Index(fields=["user", "-created_at"], name="submission_of_user")]
        constraints = [
            models.CheckConstraint(
                name="submission_by_user_or_baseline",
                condition=Q(user__isnull=False, baseline="") | (Q(user__isnull=True) & ~Q(baseline="")),
            ),
            models.UniqueConstraint(
                fields=["version", "device", "baseline"],
                condition=~Q(baseline=""),
                name="submission_one_baseline",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.mode} of {self.version_id} by {self.user_id or self.baseline}"


class Standing(models.TextChoices):
    """Whether a score counts. Only ranked ones hold a place."""

    RANKED = "ranked", "ranked"
    AUDITING = "auditing", "being audited"  # would be first, once a second run agreed
    HELD = "held", "held for review"  # too good to be believed without a person
    WITHDRAWN = "withdrawn", "withdrawn"


class Score(models.Model):
    """The ranked outcome of a submission, written in the transaction that stores the result.

    Its numbers change once at most: to those of the audit, where that was slower.
    """

    submission = models.OneToOneField(Submission, on_delete=models.CASCADE, related_name="score")
    version = models.ForeignKey(TaskVersion, on_delete=models.PROTECT, related_name="scores")
    device = models.ForeignKey(Device, on_delete=models.PROTECT, related_name="scores")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="scores"
    )
    baseline = models.CharField(max_length=16, choices=Baseline, blank=True, default="")
    seconds = models.FloatField()  # geometric mean over the benchmark cases
    ci_low = models.FloatField()  # 95 % confidence interval of that mean, seconds
    ci_high = models.FloatField()
    cases = models.JSONField()  # [{"case", "seconds", "ci_low", "ci_high", "floor_seconds"}]
    roofline = models.FloatField(
        null=True, blank=True
    )  # geometric mean of floor ÷ time, 1.0 = at the ceiling
    #: Whose kernels did the work, where it is known: a classification by names, which decides no rank.
    work = models.CharField(max_length=8, choices=[(item, item) for item in Work], blank=True, default="")
    standing = models.CharField(max_length=16, choices=Standing, default=Standing.RANKED)
    #: Why it is held or withdrawn, one sentence for its owner and staff.
    standing_reason = models.CharField(max_length=500, blank=True, default="")
    reviewed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    reviewed_at = models.DateTimeField(null=True, blank=True)  # when a person released or rejected it
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            models.Index(fields=["version", "device", "seconds"], name="score_board"),
            models.Index(fields=["-created_at", "-id"], name="score_newest"),
        ]
        constraints = [
            models.CheckConstraint(
                name="score_interval_holds",
                condition=Q(seconds__gt=0, ci_low__gt=0, ci_low__lte=F("seconds"), ci_high__gte=F("seconds")),
            )
        ]

    def __str__(self) -> str:
        return f"{self.seconds:.3e} s"


class Audit(models.Model):
    """The second measurement of an entry that would be first, in a fresh sandbox with new seeds."""

    class Outcome(models.TextChoices):
        PENDING = "pending"
        CONFIRMED = "confirmed"
        FAILED = "failed"

    submission = models.OneToOneField(Submission, on_delete=models.CASCADE, related_name="audit")
    #: The newest run.
    evaluation = models.OneToOneField(Evaluation, on_delete=models.PROTECT, related_name="audit")
    outcome = models.CharField(max_length=16, choices=Outcome, default=Outcome.PENDING)
    runs = models.PositiveSmallIntegerField(default=1)  # a run that was disturbed is repeated
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.outcome} audit of {self.submission_id}"


class BoardState(models.Model):
    """One board. Whoever changes who stands on it locks this row, so that changes come one by one."""

    version = models.ForeignKey(TaskVersion, on_delete=models.CASCADE, related_name="boards")
    device = models.ForeignKey(Device, on_delete=models.CASCADE, related_name="boards")
    seq = models.PositiveBigIntegerField(default=0)  # grows with every change; live frames carry it

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "device"], name="board_state_once")]

    def __str__(self) -> str:
        return f"board {self.version_id} on {self.device_id}, change {self.seq}"


class Allowance(models.Model):
    """Device seconds per day. The most specific row counts: user and device, user, device, everyone."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True)
    device = models.ForeignKey(Device, on_delete=models.CASCADE, null=True, blank=True)
    seconds_per_day = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "device"], name="allowance_once", nulls_distinct=False)
        ]

    def __str__(self) -> str:
        return f"{self.seconds_per_day} s a day"


class Spend(models.Model):
    """What one user used of one device on one UTC day. Reserved before a run, settled after it."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="spends")
    device = models.ForeignKey(Device, on_delete=models.CASCADE)
    day = models.DateField()
    reserved_seconds = models.FloatField(default=0)
    spent_seconds = models.FloatField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "device", "day"], name="spend_once_a_day"),
            models.CheckConstraint(
                name="spend_not_negative", condition=Q(reserved_seconds__gte=0, spent_seconds__gte=0)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.spent_seconds:.1f} s on {self.day}"


class SiteSpend(models.Model):
    """What everybody used of all devices on one UTC day: people's runs, baselines and audits."""

    day = models.DateField(unique=True)
    reserved_seconds = models.FloatField(default=0)
    spent_seconds = models.FloatField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="site_spend_not_negative", condition=Q(reserved_seconds__gte=0, spent_seconds__gte=0)
            )
        ]

    def __str__(self) -> str:
        return f"{self.spent_seconds:.1f} s on {self.day}"


class SiteState(models.Model):
    """What an operator switches for the whole site. There is one row at most, number 1."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    is_read_only = models.BooleanField(default=False, help_text="Refuses submissions; pages stay.")
    reason = models.CharField(max_length=300, blank=True, default="", help_text="Shown on every page.")
    device_seconds_per_day = models.PositiveIntegerField(
        null=True, blank=True, help_text="All users and devices together; empty for the setting."
    )
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "site state"
        constraints = [models.CheckConstraint(name="site_state_once", condition=Q(id=1))]

    def __str__(self) -> str:
        return "read-only" if self.is_read_only else "open"

    def clean(self) -> None:
        if self.is_read_only and not self.reason.strip():
            raise ValidationError({"reason": "Say why: every visitor reads it."})


class Reservation(models.Model):
    """Seconds held for one queued or running evaluation; deleted when it is settled."""

    evaluation = models.OneToOneField(Evaluation, on_delete=models.CASCADE, related_name="reservation")
    spend = models.ForeignKey(Spend, on_delete=models.CASCADE, related_name="reservations")
    seconds = models.FloatField()

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s"


class ApiToken(models.Model):
    """A personal token. Only its digest is kept; the text is shown once."""

    class Scope(models.TextChoices):
        READ = "read", "read what I can see"
        SUBMIT = "submit", "submit and cancel in my name"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12)  # shown in lists, so that people can tell tokens apart
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"
