# The admin classes are generic in the stubs only.
# mypy: disable-error-code="type-arg"
"""The admin site. What was measured or is content-addressed can be looked at and not changed."""

from collections.abc import Callable

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from leaderboard.models import (
    Allowance,
    ApiToken,
    Audit,
    BoardState,
    Reservation,
    Score,
    SiteSpend,
    SiteState,
    Spend,
    Submission,
    Task,
    TaskVersion,
)
from leaderboard.services import reviews
from leaderboard.templatetags.formats import duration, percent
from runners.read_only_admin import ReadOnlyAdmin

admin.site.site_header = admin.site.site_title = "KernelHub administration"


class VersionInline(admin.TabularInline):
    model = TaskVersion
    fields = readonly_fields = ("number", "spec", "is_current", "created_at")
    extra = 0
    can_delete = False
    show_change_link = True

    def has_add_permission(self, request: HttpRequest, obj: Task | None = None) -> bool:
        return False


@admin.register(Task)
class TaskAdmin(admin.ModelAdmin):
    list_display = ["title", "slug", "position", "is_open"]
    list_editable = ["position", "is_open"]
    readonly_fields = ["slug", "created_at"]  # the slug is the folder's name
    inlines = [VersionInline]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # tasks come from folders, by load_tasks


@admin.register(TaskVersion)
class TaskVersionAdmin(ReadOnlyAdmin):
    big_columns = ("statement", "starters")
    list_display = ["task", "number", "is_current", "created_at"]
    list_filter = ["task", "is_current"]


@admin.register(Submission)
class SubmissionAdmin(ReadOnlyAdmin):
    big_columns = ("version__statement", "version__starters", "evaluation__result", "evaluation__progress")
    list_display = [
        "short_id",
        "user",
        "baseline",
        "version",
        "mode",
        "verdict",
        "device",
        "is_public",
        "machine_written",
        "created_at",
    ]
    list_filter = [
        "mode",
        "machine_written",
        "evaluation__status",
        "evaluation__verdict",
        "version__task",
        "device",
    ]
    list_select_related = ["user", "version__task", "device", "evaluation"]
    search_fields = ["id", "user__username", "kernel__digest"]
    date_hierarchy = "created_at"

    @admin.display(description="submission")
    def short_id(self, submission: Submission) -> str:
        return str(submission.pk)[:8]  # the whole one would wrap into five lines

    @admin.display(ordering="evaluation__verdict")
    def verdict(self, submission: Submission) -> str:
        return submission.evaluation.verdict or submission.evaluation.status


@admin.register(Score)
class ScoreAdmin(ReadOnlyAdmin):
    """Scores are released or rejected here; rejecting keeps the row and the reason, deleting does not."""

    big_columns = ("cases", "version__statement", "version__starters")
    list_display = [
        "version",
        "user",
        "baseline",
        "time",
        "share_of_roofline",
        "standing",
        "standing_reason",
        "device",
        "reviewed_by",
        "reviewed_at",
        "created_at",
    ]
    list_filter = ["standing", "version__task", "device"]
    list_select_related = ["version__task", "device", "user", "reviewed_by"]
    search_fields = ["user__username", "submission__id"]
    actions = ["release", "reject"]

    @admin.display(ordering="seconds")
    def time(self, score: Score) -> str:
        return duration(score.seconds)

    @admin.display(description="roofline", ordering="roofline")
    def share_of_roofline(self, score: Score) -> str:
        return percent(score.roofline)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, obj)

    def has_review_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("leaderboard.change_score")

    @admin.action(description="Release: let held or withdrawn scores count", permissions=["review"])
    def release(self, request: HttpRequest, scores: QuerySet[Score]) -> None:
        self._review(request, scores, reviews.release, "released")

    @admin.action(description="Reject: take scores off their boards", permissions=["review"])
    def reject(self, request: HttpRequest, scores: QuerySet[Score]) -> None:
        self._review(request, scores, reviews.reject, "rejected")

    def _review(
        self, request: HttpRequest, scores: QuerySet[Score], decide: Callable[..., bool], word: str
    ) -> None:
        chosen = list(scores.select_related("submission__evaluation"))
        done = [score for score in chosen if decide(reviewer=request.user, score=score)]
        for score in done:
            self.log_change(request, score, f"{word} after review")
        self.message_user(request, f"{len(done)} of {len(chosen)} scores {word}.")


@admin.register(Audit)
class AuditAdmin(ReadOnlyAdmin):
    big_columns = ("evaluation__result", "evaluation__progress")
    list_display = ["submission", "evaluation", "outcome", "runs", "created_at"]
    list_filter = ["outcome"]
    list_select_related = ["submission", "evaluation"]


@admin.register(BoardState)
class BoardStateAdmin(ReadOnlyAdmin):
    list_display = ["version", "device", "seq"]
    list_select_related = ["version__task", "device"]


@admin.register(SiteState)
class SiteStateAdmin(admin.ModelAdmin):
    """The read-only switch and the spend breaker of the whole site; one row."""

    list_display = ["__str__", "reason", "device_seconds_per_day", "changed_at"]
    fields = ["is_read_only", "reason", "device_seconds_per_day"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and not SiteState.objects.exists()


@admin.register(SiteSpend)
class SiteSpendAdmin(ReadOnlyAdmin):
    list_display = ["day", "reserved_seconds", "spent_seconds"]


@admin.register(Allowance)
class AllowanceAdmin(admin.ModelAdmin):
    """Budgets. The most specific row counts: user and device, user, device, everyone."""

    list_display = ["__str__", "user", "device", "seconds_per_day"]
    list_editable = ["seconds_per_day"]
    list_filter = ["device"]
    autocomplete_fields = ["user", "device"]


@admin.register(Spend)
class SpendAdmin(admin.ModelAdmin):
    """What was used. Editable, so that seconds lost to a fault of ours can be given back."""

    list_display = ["user", "device", "day", "reserved_seconds", "spent_seconds"]
    list_filter = ["device", "day"]
    list_select_related = ["user", "device"]
    search_fields = ["user__username"]
    readonly_fields = ["user", "device", "day", "reserved_seconds"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(Reservation)
class ReservationAdmin(ReadOnlyAdmin):
    list_display = ["evaluation", "spend", "seconds"]
    list_select_related = ["evaluation", "spend"]


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    """Tokens can be deleted, which revokes them; their digests are not shown."""

    list_display = ["name", "user", "prefix", "scopes", "last_used_at", "expires_at", "revoked_at"]
    search_fields = ["user__username", "prefix"]
    exclude = ["digest"]

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, obj)
