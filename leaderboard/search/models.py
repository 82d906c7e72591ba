"""Search runs as rows: the event log is the run, everything else can be told from it."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from leaderboard.models import Submission, TaskVersion
from leaderboard.search.generators.base import is_starter
from leaderboard.search.telling import is_told
from runners.models import Device, Evaluation, Kernel
from surrogate.policy import Action


class RunStatus(models.TextChoices):
    RUNNING = "running"
    PAUSED = "paused"  # by its owner, or by a breaker that says why
    FINISHED = "finished"


class StopReason(models.TextChoices):
    """Why a run has ended; each has a sentence for people in ``stop_message``."""

    MEASUREMENTS = "measurements", "the measurements are used up"
    DEVICE_SECONDS = "device_seconds", "the device seconds are used up"
    WALL_SECONDS = "wall_seconds", "the time is up"
    TOKENS = "tokens", "the tokens are used up"
    MONEY = "money", "the money is used up"
    EXHAUSTED = "exhausted", "the generator has nothing new to propose"
    CANCELLED = "cancelled", "cancelled"
    CHANGED = "changed", "the task or the device is not what it was"


class SearchRun(models.Model):
    """A budgeted search. Budgets are reserved before they are spent and settled after it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="search_runs")
    version = models.ForeignKey(TaskVersion, on_delete=models.PROTECT, related_name="search_runs")
    device = models.ForeignKey(Device, on_delete=models.PROTECT, related_name="search_runs")
    generator = models.CharField(max_length=16)
    language = models.CharField(max_length=16)  # key of the template or starter: "cpp", "python-cuda"
    plan = models.JSONField()
    #: What was searched, on what: a run is not resumed on anything else.
    spec_digest = models.CharField(max_length=64)
    template_digest = models.CharField(max_length=64)
    device_digest = models.CharField(max_length=64)
    is_public = models.BooleanField(default=False)

    status = models.CharField(max_length=16, choices=RunStatus, default=RunStatus.RUNNING)
    stop_reason = models.CharField(max_length=16, choices=StopReason, blank=True, default="")
    stop_message = models.CharField(max_length=300, blank=True, default="")  # also why it is paused or waits
    #: Number of the newest event.
    seq = models.PositiveBigIntegerField(default=0)
    generations = models.PositiveIntegerField(default=0)
    considered = models.PositiveIntegerField(default=0)
    faults = models.PositiveSmallIntegerField(default=0)  # failures of ours since the last outcome

    measurements_limit = models.PositiveIntegerField()
    measurements_spent = models.PositiveIntegerField(default=0)
    measurements_reserved = models.PositiveIntegerField(default=0)
    device_seconds_limit = models.FloatField()
    device_seconds_spent = models.FloatField(default=0)
    device_seconds_reserved = models.FloatField(default=0)
    tokens_limit = models.PositiveBigIntegerField(default=0)
    tokens_spent = models.PositiveBigIntegerField(default=0)
    tokens_reserved = models.PositiveBigIntegerField(default=0)
    money_limit = models.FloatField(default=0)  # US dollars
    money_spent = models.FloatField(default=0)
    money_reserved = models.FloatField(default=0)
    wall_seconds_limit = models.FloatField()
    wall_seconds_spent = models.FloatField(default=0)  # up to the last pause
    going_since = models.DateTimeField(null=True, blank=True)  # null while paused, waiting, finished
    resumes_at = models.DateTimeField(null=True, blank=True)  # when a paused run goes on by itself

    #: Whether the best kernel is entered on the board, in its owner's name, once the run has ended.
    enters_best = models.BooleanField(default=True)
    entered = models.OneToOneField(
        Submission, on_delete=models.SET_NULL, null=True, blank=True, related_name="search_run"
    )
    best_seconds = models.FloatField(null=True, blank=True)
    starter_seconds = models.FloatField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["-created_at"], name="search_newest"),
            models.Index(fields=["status"], name="search_going", condition=Q(status="running")),
            models.Index(fields=["resumes_at"], name="search_resumes", condition=Q(status="paused")),
        ]
        constraints = [
            models.CheckConstraint(
                name="search_measurements_kept",
                condition=Q(measurements_limit__gte=F("measurements_spent") + F("measurements_reserved")),
            ),
            models.CheckConstraint(
                name="search_finished_has_reason",
                condition=(Q(status="finished") & ~Q(stop_reason="") & Q(finished_at__isnull=False))
                | (~Q(status="finished") & Q(stop_reason="")),
            ),
        ]

    def __str__(self) -> str:
        return f"search of {self.version_id} on {self.device_id}, {self.status}"


class SearchCandidate(models.Model):
    """A kernel that a run considered, as its newest event left it."""

    class Status(models.TextChoices):
        WAITING = "waiting"  # considered, not measured, skipped ones too
        MEASURING = "measuring"
        MEASURED = "measured"
        FAILED = "failed"  # by its own fault, whatever its verdict
        DROPPED = "dropped"  # stopped by a person, or our fault

    run = models.ForeignKey(SearchRun, on_delete=models.CASCADE, related_name="candidates")
    number = models.PositiveIntegerField()  # from 0, in the order of considering
    digest = models.CharField(max_length=64)  # equal for kernels of equal code and settings
    kernel = models.ForeignKey(Kernel, on_delete=models.PROTECT, related_name="+")
    parameters = models.JSONField(default=dict)
    operator = models.CharField(max_length=16)
    parents = models.JSONField(default=list)  # digests
    generation = models.PositiveIntegerField()
    island = models.PositiveSmallIntegerField()
    action = models.CharField(max_length=16, choices=[(str(item), str(item)) for item in Action])
    reason = models.CharField(max_length=300, blank=True, default="")
    forecast_seconds = models.FloatField(null=True, blank=True)
    forecast_spread = models.FloatField(null=True, blank=True)  # octaves
    p_better = models.FloatField(null=True, blank=True)
    status = models.CharField(max_length=16, choices=Status, default=Status.WAITING)
    seconds = models.FloatField(null=True, blank=True)
    evaluation = models.OneToOneField(
        Evaluation, on_delete=models.PROTECT, null=True, blank=True, related_name="search_candidate"
    )
    reserved_seconds = models.FloatField(default=0)
    #: Number of the event that last changed the row: pages ask for rows after a number.
    seq = models.PositiveBigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="search_candidate_number"),
            models.UniqueConstraint(fields=["run", "digest"], name="search_candidate_once"),
        ]
        indexes = [models.Index(fields=["run", "seq"], name="search_candidate_changed")]

    def __str__(self) -> str:
        return f"candidate {self.number} of {self.run_id}"

    @property
    def told_seconds(self) -> float | None:
        """The forecast where it is one of a time, see ``is_told``."""
        told = is_told(self.forecast_seconds, self.forecast_spread, self.p_better)
        return self.forecast_seconds if told else None

    @property
    def is_starter(self) -> bool:
        return is_starter(self.operator, self.parameters)

    @property
    def lacks_forecast(self) -> bool:
        """Whether a forecast was made that tells no time."""
        return self.forecast_seconds is not None and self.told_seconds is None

    @property
    def told_spread(self) -> float | None:
        return None if self.told_seconds is None else self.forecast_spread


class SearchEvent(models.Model):
    """One thing that happened to a run. Events are only ever added."""

    class Kind(models.TextChoices):
        STARTED = "started"
        GENERATION = "generation"
        MEASURED = "measured"
        DROPPED = "dropped"
        PROFILED = "profiled"  # a kernel that a language model builds on; costs device seconds alone
        PAUSED = "paused"
        RESUMED = "resumed"
        EXTENDED = "extended"
        ENTERED = "entered"  # or why the best kernel was not
        FINISHED = "finished"

    run = models.ForeignKey(SearchRun, on_delete=models.CASCADE, related_name="events")
    seq = models.PositiveBigIntegerField()  # from 1, without gaps
    kind = models.CharField(max_length=16, choices=Kind)
    document = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="search_event_seq")]

    def __str__(self) -> str:
        return f"{self.seq}: {self.kind}"
