"""Shapes of what the API tells of tasks, boards and devices. Times are seconds."""

from rest_framework import serializers

from leaderboard.api import choices
from leaderboard.selectors.tasks import Record


class ErrorBody(serializers.Serializer[object]):
    code = serializers.CharField(help_text="A stable word for programs, the rule that was broken.")
    message = serializers.CharField(
        help_text="For people; where several fields are at fault, a sentence each."
    )
    line = serializers.IntegerField(allow_null=True, help_text="Line of the source at fault, from 1.")
    field = serializers.CharField(
        allow_null=True, help_text="Field of the request at fault, the first of several."
    )


class Error(serializers.Serializer[object]):
    error = ErrorBody()


class LeaderOut(serializers.Serializer[object]):
    device = serializers.CharField(source="device.slug")
    username = serializers.CharField(allow_null=True)
    baseline = serializers.ChoiceField(choices.BASELINES)
    seconds = serializers.FloatField()


class TaskOut(serializers.Serializer[object]):
    slug = serializers.CharField(source="task.slug")
    title = serializers.CharField(source="task.title")
    summary = serializers.CharField(source="task.summary")
    is_open = serializers.BooleanField(source="task.is_open")
    version = serializers.IntegerField(source="version.number")
    spec = serializers.CharField(source="version.spec_id", help_text="Digest of the contract.")
    leaders = LeaderOut(many=True)
    entries = serializers.IntegerField()


class CaseOut(serializers.Serializer[object]):
    name = serializers.CharField()
    role = serializers.CharField()
    device_kind = serializers.ChoiceField(choices.DEVICE_KINDS)
    description = serializers.CharField(source="describe")
    sizes = serializers.DictField(child=serializers.IntegerField())


class ToleranceOut(serializers.Serializer[object]):
    atol = serializers.FloatField()
    rtol = serializers.FloatField()


class VersionOut(serializers.Serializer[object]):
    number = serializers.IntegerField()
    spec = serializers.CharField(source="spec_id")
    is_current = serializers.BooleanField()
    created_at = serializers.DateTimeField()


class TaskDetailOut(serializers.Serializer[object]):
    slug = serializers.CharField()
    title = serializers.CharField()
    summary = serializers.CharField()
    is_open = serializers.BooleanField()
    version = serializers.IntegerField()
    spec = serializers.CharField(help_text="Digest of the contract.")
    statement = serializers.CharField(help_text="Markdown.")
    reference = serializers.CharField(help_text="Source of reference.py.")
    languages = serializers.ListField(child=serializers.ChoiceField(choices.LANGUAGES))
    entry_points = serializers.DictField(
        child=serializers.CharField(), help_text="By language: what a submission must define."
    )
    starters = serializers.DictField(child=serializers.CharField())
    tolerances = serializers.DictField(child=ToleranceOut(), help_text="By output dtype.")
    cases = CaseOut(many=True)
    versions = VersionOut(many=True)


class CaseColumnOut(serializers.Serializer[object]):
    name = serializers.CharField()
    description = serializers.CharField()


class CaseCellOut(serializers.Serializer[object]):
    seconds = serializers.FloatField()
    ci_low = serializers.FloatField()
    ci_high = serializers.FloatField()


class BoardRowOut(serializers.Serializer[object]):
    rank = serializers.IntegerField(allow_null=True, help_text="Null for baselines and while being audited.")
    standing = serializers.ChoiceField(choices.STANDINGS, help_text="Here ranked or auditing.")
    tied = serializers.BooleanField(
        help_text="The rank is shared: the intervals overlap, or differ by no more than the device's noise."
    )
    username = serializers.CharField(allow_null=True)
    baseline = serializers.ChoiceField(choices.BASELINES)
    seconds = serializers.FloatField(help_text="Geometric mean over the cases.")
    ci_low = serializers.FloatField()
    ci_high = serializers.FloatField()
    cases = serializers.DictField(child=CaseCellOut(), source="cells", help_text="By case name.")
    speedup = serializers.FloatField(allow_null=True, help_text="Against the eager baseline.")
    roofline = serializers.FloatField(allow_null=True, help_text="1.0 = at the device's ceiling.")
    language = serializers.ChoiceField(choices.LANGUAGES)
    kernels = serializers.ChoiceField(
        choices.WORK, source="work", help_text="Whose kernels ran; empty where nobody knows."
    )
    machine_written = serializers.BooleanField(help_text="Found by a search and entered in its owner's name.")
    like = serializers.CharField(
        allow_null=True, help_text="Whose earlier entry here has nearly the same text, if anybody's."
    )
    submission = serializers.SerializerMethodField(
        help_text="Id of the submission where you may see it, else null."
    )
    created_at = serializers.DateTimeField()

    def get_submission(self, row: object) -> str | None:
        visible = getattr(row, "submission_visible", False)
        return str(getattr(row, "submission_id", "")) if visible else None


class BoardOut(serializers.Serializer[object]):
    task = serializers.CharField(source="version.task.slug")
    version = serializers.IntegerField(source="version.number")
    device = serializers.CharField(source="device.slug")
    seq = serializers.IntegerField(help_text="Grows with every new score.")
    kernels = serializers.CharField(allow_blank=True, help_text="The filter asked for; empty for all.")
    cases = CaseColumnOut(many=True)
    rows = BoardRowOut(many=True)
    total = serializers.IntegerField(help_text="Ranked entries, baselines apart.")


class HistoryPointOut(serializers.Serializer[object]):
    at = serializers.DateTimeField()
    username = serializers.CharField()
    seconds = serializers.FloatField()


class RecordOut(serializers.Serializer[object]):
    task = serializers.CharField(source="score.version.task.slug")
    version = serializers.IntegerField(source="score.version.number")
    device = serializers.CharField(source="score.device.slug")
    username = serializers.CharField(source="score.user.username")
    seconds = serializers.FloatField(source="score.seconds")
    previous_seconds = serializers.FloatField(allow_null=True, help_text="Null for the first on its board.")
    submission = serializers.SerializerMethodField(
        help_text="Id of the submission where you may see it, else null."
    )
    created_at = serializers.DateTimeField(source="score.created_at")

    def get_submission(self, record: Record) -> str | None:
        return str(record.score.submission_id) if record.submission_visible else None


class SandboxOut(serializers.Serializer[object]):
    tier = serializers.CharField()
    layers = serializers.DictField(child=serializers.CharField(), help_text="proved, or why it is missing.")


class DeviceOut(serializers.Serializer[object]):
    slug = serializers.CharField(source="device.slug")
    kind = serializers.ChoiceField(choices.DEVICE_KINDS, source="device.kind")
    name = serializers.CharField(source="device.name")
    is_open = serializers.BooleanField(source="device.is_open")
    facts = serializers.JSONField(source="device.facts")
    ceilings = serializers.JSONField(source="device.ceilings")
    calibrated_at = serializers.DateTimeField(source="device.calibrated_at", allow_null=True)
    noise = serializers.FloatField(
        source="device.noise",
        allow_null=True,
        help_text="Coefficient of variation of equal runs at most, which ties on boards go by; assumed while "
        "noise_measured_at is null.",
    )
    noise_measured_at = serializers.DateTimeField(source="device.noise_measured_at", allow_null=True)
    environment_digest = serializers.CharField(
        source="device.calibration.environment_digest",
        default="",
        help_text="Of versions and facts under which the ceilings were measured.",
    )
    online = serializers.BooleanField()
    runners = serializers.IntegerField()
    is_measuring = serializers.BooleanField(
        help_text="Not online yet: its runner measures the ceilings first, about a minute."
    )
    queued = serializers.IntegerField(help_text="All that waits.")
    ahead = serializers.IntegerField(help_text="Of these, what a person's run entered now would wait for.")
    running = serializers.IntegerField()
    wait_seconds = serializers.FloatField(
        allow_null=True,
        help_text="Expected, of a person's run entered now; longer where audits before it are repeated. "
        "Null while no runner is online.",
    )
    quarantine_reason = serializers.CharField(allow_blank=True)
    sandbox = SandboxOut(allow_null=True, help_text="Null while no runner is alive.")
    ranked_refusal = serializers.CharField(allow_blank=True, help_text="Why ranked runs are refused, if so.")


class ChoiceOut(serializers.Serializer[object]):
    value = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # DRF takes fields off the class
    enabled = serializers.BooleanField()
    reason = serializers.CharField(allow_blank=True, help_text="Why not, or a hint.")
    devices = serializers.ListField(
        child=serializers.CharField(), help_text="Devices with which this choice works."
    )
    reasons = serializers.DictField(
        child=serializers.CharField(), help_text="By device with which it does not work: why."
    )


class BudgetOut(serializers.Serializer[object]):
    allowance = serializers.FloatField(help_text="Device seconds a UTC day.")
    spent = serializers.FloatField()
    reserved = serializers.FloatField(help_text="Held for queued and running work.")
    left = serializers.FloatField()
    refills_at = serializers.DateTimeField()


class OptionsOut(serializers.Serializer[object]):
    devices = ChoiceOut(many=True)
    languages = ChoiceOut(many=True)
    modes = ChoiceOut(many=True)
    budgets = serializers.DictField(child=BudgetOut(), help_text="By device; empty without log-in.")
