"""The journal of a run's language model as rows: what was asked, paid for and made of it."""

from django.db import models

from leaderboard.search.models import SearchRun


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
