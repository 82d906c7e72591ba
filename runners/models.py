"""What the measuring side keeps: kernels, task contracts, devices, runners and evaluations."""

import uuid

from django.db import models
from django.db.models import F, Q

from runners.contract.vocabulary import DeviceKind, Language, Mode, Stage, Verdict


class SpecDocument(models.Model):
    """A stored TaskSpec; the digest is its content, so a row never changes."""

    digest = models.CharField(primary_key=True, max_length=64)
    document = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.document['slug']} {self.digest[:12]}"


class Kernel(models.Model):
    """An immutable source text in one language, content-addressed."""

    digest = models.CharField(primary_key=True, max_length=64)
    language = models.CharField(max_length=16, choices=[(item, item) for item in Language])
    source = models.TextField()
    #: By which nearly equal texts are known, made and read by the site; null until it has one.
    sketch = models.JSONField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.language} {self.digest[:12]}"


class Device(models.Model):
    """A kind of hardware that runners serve, with measured ceilings and environment facts."""

    slug = models.SlugField(unique=True, max_length=80)
    kind = models.CharField(max_length=8, choices=[(item, item) for item in DeviceKind])
    name = models.CharField(max_length=120)  # as people read it, e.g. "AMD EPYC, 1 core"
    facts = models.JSONField(default=dict)  # cores, caches, memory, driver, compiler …
    #: {"copy_bytes_per_s": …, "flops_per_s": {"float32": …}, "launch_seconds": …}, measured on the device
    ceilings = models.JSONField(default=dict)
    calibrated_at = models.DateTimeField(null=True, blank=True)
    #: "environment_digest" and "environment" of the newest ceilings, "noise_seconds" of the newest A/A test,
    #: "noise": {"deviation", "freedom"} of all equal runs together
    calibration = models.JSONField(default=dict)
    #: Coefficient of variation of equal runs at most (noise.py); assumed until ``noise_measured_at`` is set
    noise = models.FloatField(null=True, blank=True)
    noise_measured_at = models.DateTimeField(null=True, blank=True)
    is_open = models.BooleanField(default=True, help_text="Whether submissions are accepted.")
    quarantine_reason = models.CharField(max_length=300, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Runner(models.Model):
    """One process that serves one device instance, or, with no device, compile-only work."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    device = models.ForeignKey(
        Device, on_delete=models.CASCADE, null=True, blank=True, related_name="runners"
    )
    host = models.CharField(max_length=255)
    pid = models.PositiveIntegerField()
    tier = models.CharField(max_length=2)  # highest sandbox tier that its probe proved
    layers = models.JSONField(default=dict)  # layer → proved or the reason it is missing
    started_at = models.DateTimeField(auto_now_add=True)
    heartbeat_at = models.DateTimeField(db_index=True)
    stopped_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.device or 'check'} on {self.host}:{self.pid}"

    @property
    def short_name(self) -> str:
        """By which pages name it; the admin's list has its host."""
        return str(self.pk)[:8]


class EvaluationStatus(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"


class Lane(models.IntegerChoices):
    """Who goes first on a device's queue; smaller is sooner."""

    CHECK = 0
    AUDIT = 5  # somebody waits to be first
    PERSON = 10
    SEARCH = 20
    BASELINE = 30


class Evaluation(models.Model):
    """One run of one Kernel on one TaskSpec and Device. The row is queue entry, lease and result in one."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kernel = models.ForeignKey(Kernel, on_delete=models.PROTECT, related_name="evaluations")
    spec = models.ForeignKey(SpecDocument, on_delete=models.PROTECT, related_name="evaluations")
    device = models.ForeignKey(Device, on_delete=models.PROTECT, related_name="evaluations")
    mode = models.CharField(max_length=16, choices=[(item, item) for item in Mode])
    queue = models.CharField(max_length=100)  # the device's slug, or "check" for compile-only work
    lane = models.SmallIntegerField(choices=Lane, default=Lane.PERSON)
    status = models.CharField(max_length=16, choices=EvaluationStatus, default=EvaluationStatus.QUEUED)
    stage = models.CharField(max_length=16, choices=[(item, item) for item in Stage], blank=True, default="")
    verdict = models.CharField(
        max_length=20, choices=[(item, item) for item in Verdict], blank=True, default=""
    )
    reason = models.TextField(blank=True, default="")  # one sentence for people; empty when passed
    #: Number of the newest progress event; frames carry it, so that a page notices a gap.
    seq = models.PositiveIntegerField(default=0)
    progress = models.JSONField(
        default=dict
    )  # what a page needs to draw the run so far (contract/progress.py)
    result = models.JSONField(null=True, blank=True)  # the result document (contract/result.py)
    raw_kept = models.BooleanField(default=True)  # else retention.py took single times and traces away
    tier = models.CharField(max_length=2, blank=True, default="")  # sandbox tier it ran under
    attempts = models.PositiveSmallIntegerField(default=0)
    runner = models.ForeignKey(
        Runner, on_delete=models.SET_NULL, null=True, blank=True, related_name="evaluations"
    )
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    device_seconds = models.FloatField(default=0)  # time the device was held, all attempts together
    queued_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["queue", "lane", "queued_at"],
                name="evaluation_waiting",
                condition=Q(status="queued"),
            ),
            models.Index(
                fields=["lease_expires_at"], name="evaluation_leased", condition=Q(status="running")
            ),
            models.Index(
                fields=["finished_at"],
                name="evaluation_raw",
                condition=Q(status="finished", raw_kept=True),
            ),
            # For the usual length of runs, from which pages tell waits: read from the index alone.
            models.Index(
                fields=["finished_at"],
                include=["queue", "mode", "started_at"],
                name="evaluation_lately",
                condition=Q(status="finished"),
            ),
        ]
        constraints = [
            models.CheckConstraint(
                name="evaluation_finished_has_verdict",
                condition=(Q(status="finished") & ~Q(verdict="") & Q(finished_at__isnull=False))
                | (~Q(status="finished") & Q(verdict="")),
            ),
            models.CheckConstraint(
                name="evaluation_running_has_lease",
                condition=~Q(status="running") | Q(lease_expires_at__isnull=False),
            ),
        ]
        ordering = [F("queued_at").desc()]

    def __str__(self) -> str:
        return f"{self.mode} {self.id}"


class ProfileTrace(models.Model):
    """A profiler's raw report of one evaluation: what a stranger's process wrote, kept and never opened."""

    evaluation = models.OneToOneField(Evaluation, on_delete=models.CASCADE, related_name="trace")
    content = models.BinaryField()  # gzip, at most limits.MAX_TRACE_BYTES

    def __str__(self) -> str:
        return f"trace of {self.evaluation_id}"
