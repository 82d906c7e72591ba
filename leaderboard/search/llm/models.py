"""What language models' part in searches leaves behind: each run's journal, and over all runs what verifiers'
words and the archive's examples were worth."""

from django.db import models
from django.db.models import F, Q

from leaderboard.search.models import SearchRun
from runners.models import Evaluation


class JournalEntry(models.Model):
    """One entry of ``journal.Journal``. Entries are only ever added."""

    class Kind(models.TextChoices):
        SETUP = "setup"  # which models write and verify
        ASKED = "asked"
        REPLIED = "replied"
        USED = "used"
        VOTED = "voted"

    run = models.ForeignKey(SearchRun, on_delete=models.CASCADE, related_name="llm_entries")
    step = models.CharField(max_length=80)  # the place in the search that the call is made at
    kind = models.CharField(max_length=8, choices=Kind)
    document = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "journal entries"
        constraints = [
            # The one that is asked first pays; whoever comes second is refused by the database.
            models.UniqueConstraint(fields=["run", "step", "kind"], name="search_llm_step_once")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.step} of {self.run_id}"


class VerifierRecord(models.Model):
    """Counts over the measured kernels of all runs, as ``votes.Record`` has them."""

    verifier = models.CharField(max_length=16)
    model = models.CharField(max_length=120)  # with its effort, as arms are named
    family = models.CharField(max_length=64)  # of tasks: today each task is one
    warned = models.PositiveIntegerField(default=0)
    right = models.PositiveIntegerField(default=0)
    due = models.PositiveIntegerField(default=0)
    caught = models.PositiveIntegerField(default=0)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["verifier", "model", "family"], name="search_llm_record_once")
        ]

    def __str__(self) -> str:
        return f"{self.verifier} by {self.model} on {self.family}"


class ExampleUse(models.Model):
    """Counts over the measured kernels of all runs, as ``examples.Use`` has them."""

    key = models.CharField(max_length=120, unique=True)  # as ``examples.Example`` names a kernel
    shown = models.PositiveIntegerField(default=0)
    helped = models.PositiveIntegerField(default=0)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="search_llm_helped_when_shown", condition=Q(helped__lte=F("shown")))
        ]

    def __str__(self) -> str:
        return f"{self.key}: {self.helped} of {self.shown}"


class ParentProfile(models.Model):
    """A profile-mode run of a kernel that others are built on: once per run of a search and kernel."""

    run = models.ForeignKey(SearchRun, on_delete=models.CASCADE, related_name="profiles")
    digest = models.CharField(max_length=64)
    evaluation = models.OneToOneField(Evaluation, on_delete=models.PROTECT, related_name="search_profile")
    reserved_seconds = models.FloatField()
    is_settled = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "digest"], name="search_llm_profile_once")]

    def __str__(self) -> str:
        return f"profile of {self.digest} for {self.run_id}"
