"""Shapes of submissions, profiles and tokens, and of what is sent to make them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from leaderboard.api import choices
from leaderboard.api.serializers import BudgetOut
from leaderboard.case_names import described
from leaderboard.models import ApiToken, Score, Submission
from leaderboard.selectors.submissions import queue_place
from leaderboard.selectors.viewers import may_manage
from runners.contract.vocabulary import Mode
from runners.models import EvaluationStatus


class SourceField(serializers.CharField):
    """Any text at all: the service refuses NUL bytes and broken characters, and names their line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.validators = []


class SubmissionIn(serializers.Serializer[object]):
    """A new submission. Rules about the values are the service's, so that page and API say the same."""

    task = serializers.CharField(max_length=64)
    device = serializers.CharField(max_length=80)
    language = serializers.CharField(
        max_length=16, required=False, default="", allow_blank=True, help_text="Told by filename if absent."
    )
    mode = serializers.CharField(
        max_length=16,
        required=False,
        default=str(Mode.RANKED),
        help_text=f"One of {', '.join(Mode)}; ranked if absent.",
    )
    source = SourceField(  # type: ignore[assignment]  # DRF takes fields off the class
        trim_whitespace=False, allow_blank=True
    )
    filename = serializers.CharField(max_length=255, required=False, default="", allow_blank=True)
    is_public = serializers.BooleanField(required=False, default=False)


class VisibilityIn(serializers.Serializer[object]):
    is_public = serializers.BooleanField()


class AuditOut(serializers.Serializer[object]):
    audited_at = serializers.DateTimeField()
    seconds = serializers.FloatField(source="audit_seconds", help_text="What the audit measured.")


class ScoreOut(serializers.Serializer[Score]):
    seconds = serializers.FloatField()
    ci_low = serializers.FloatField()
    ci_high = serializers.FloatField()
    roofline = serializers.FloatField(allow_null=True)
    standing = serializers.ChoiceField(choices.STANDINGS, help_text="Only ranked scores hold a place.")
    audit = serializers.SerializerMethodField(
        help_text="The second run, with new inputs, that bore the time out; null where there was none."
    )

    @extend_schema_field(AuditOut(allow_null=True))
    def get_audit(self, score: Score) -> dict[str, Any] | None:
        submission = score.submission
        return AuditOut(submission).data if getattr(submission, "audited_at", None) else None


class SubmissionOut(serializers.Serializer[Submission]):
    id = serializers.UUIDField()
    username = serializers.CharField(source="user.username", default=None, allow_null=True)
    baseline = serializers.ChoiceField(choices.BASELINES)
    task = serializers.CharField(source="version.task.slug")
    version = serializers.IntegerField(source="version.number")
    device = serializers.CharField(source="device.slug")
    language = serializers.ChoiceField(choices.LANGUAGES, source="kernel.language")
    kernel = serializers.CharField(source="kernel_id", help_text="Digest of the source.")
    mode = serializers.ChoiceField(choices.MODES)
    is_public = serializers.BooleanField()
    machine_written = serializers.BooleanField(help_text="Found by a search and entered in its owner's name.")
    created_at = serializers.DateTimeField()
    status = serializers.ChoiceField(EvaluationStatus.choices, source="evaluation.status")
    stage = serializers.ChoiceField(choices.STAGES, source="evaluation.stage")
    verdict = serializers.ChoiceField(choices.VERDICTS, source="evaluation.verdict")
    reason = serializers.SerializerMethodField(help_text="One sentence for people; empty when it passed.")
    tier = serializers.CharField(source="evaluation.tier", allow_blank=True, help_text="Sandbox tier.")
    started_at = serializers.DateTimeField(source="evaluation.started_at", allow_null=True)
    finished_at = serializers.DateTimeField(source="evaluation.finished_at", allow_null=True)
    device_seconds = serializers.FloatField(source="evaluation.device_seconds")
    score = ScoreOut(allow_null=True, default=None)

    def get_reason(self, submission: Submission) -> str:
        return described(submission.evaluation.reason, lambda: submission.version)


class FindingOut(serializers.Serializer[object]):
    rule = serializers.CharField()
    line = serializers.IntegerField()
    message = serializers.CharField()
    refuses = serializers.BooleanField(help_text="Whether the task forbids it.")


class QueuePlaceOut(serializers.Serializer[object]):
    position = serializers.IntegerField(help_text="1 = next.")
    wait_seconds = serializers.FloatField(
        allow_null=True,
        help_text="Expected; longer where audits before it are repeated. Null while no runner is online.",
    )


class SubmissionDetailOut(SubmissionOut):
    seq = serializers.IntegerField(source="evaluation.seq", help_text="Grows with every change.")
    progress = serializers.JSONField(source="evaluation.progress", help_text="Stages and cases so far.")
    findings = FindingOut(
        many=True, source="evaluation.result.findings", default=list, help_text="Of the static screening."
    )
    kernels = serializers.ChoiceField(
        choices.WORK,
        source="evaluation.result.work",
        default="",
        help_text="Whose kernels ran: its own or a library's; empty where nobody knows.",
    )
    queue = serializers.SerializerMethodField()
    standing_reason = serializers.SerializerMethodField(
        help_text="Why the score is held or withdrawn; empty for all but the owner and staff."
    )

    def get_standing_reason(self, submission: Submission) -> str:
        score = getattr(submission, "score", None)
        viewer = self.context.get("viewer")
        told = score.standing_reason if score and may_manage(submission, viewer) else ""
        return described(told, lambda: submission.version)

    @extend_schema_field(QueuePlaceOut(allow_null=True))
    def get_queue(self, submission: Submission) -> dict[str, Any] | None:
        place = queue_place(submission.evaluation)
        return QueuePlaceOut(place).data if place else None


class SourceOut(serializers.Serializer[object]):
    language = serializers.ChoiceField(choices.LANGUAGES)
    digest = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]  # DRF takes fields off the class


class CancelOut(serializers.Serializer[object]):
    cancelled = serializers.BooleanField(help_text="False when the evaluation had ended before.")
    reason = serializers.CharField(required=False, help_text="Why there was nothing to cancel; only then.")


class BestPlaceOut(serializers.Serializer[object]):
    task = serializers.CharField(source="task.slug")
    version = serializers.IntegerField(source="version_number")
    device = serializers.CharField(source="device.slug")
    rank = serializers.IntegerField()
    tied = serializers.BooleanField()
    entries = serializers.IntegerField()
    seconds = serializers.FloatField()
    ci_low = serializers.FloatField()
    ci_high = serializers.FloatField()


class ProfileOut(serializers.Serializer[object]):
    username = serializers.CharField(source="user.username")
    joined_at = serializers.DateTimeField(source="user.date_joined")
    best = BestPlaceOut(many=True)
    submissions = serializers.ListField(child=SubmissionOut(), help_text="The newest you may see.")


class TokenIn(serializers.Serializer[object]):
    name = serializers.CharField(max_length=80, allow_blank=True)
    scopes = serializers.ListField(child=serializers.CharField(max_length=16), max_length=8)
    expires_at = serializers.DateTimeField(required=False, allow_null=True, default=None)


class TokenOut(serializers.Serializer[ApiToken]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    prefix = serializers.CharField()
    scopes = serializers.ListField(child=serializers.ChoiceField(ApiToken.Scope.choices))
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)


class NewTokenOut(TokenOut):
    token = serializers.CharField(help_text="The text of the token. It is not shown again.")


class DeviceBudgetOut(BudgetOut):
    device = serializers.CharField()
