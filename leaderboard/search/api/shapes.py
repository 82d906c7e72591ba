"""Shapes of search runs, and of what is sent to start one."""

from rest_framework import serializers

from leaderboard.api.fields import NumberField, WholeNumberField
from leaderboard.search.models import SearchCandidate, SearchEvent, SearchRun
from leaderboard.search.plan import MOST_MULTIPLE, Policy
from leaderboard.search.services.limits import Limits

_USUAL = Limits()


class LimitsIn(serializers.Serializer[object]):
    measurements = WholeNumberField(required=False, default=_USUAL.measurements)
    device_seconds = NumberField(required=False, default=_USUAL.device_seconds)
    wall_seconds = NumberField(required=False, default=_USUAL.wall_seconds)
    tokens = WholeNumberField(required=False, default=0, help_text="Of language models.")
    money = NumberField(required=False, default=0.0, help_text="US dollars, for language models.")


class MoreIn(serializers.Serializer[object]):
    """How much more of each; something must be given."""

    measurements = WholeNumberField(required=False, default=0, min_value=0)
    device_seconds = NumberField(required=False, default=0.0, min_value=0)
    wall_seconds = NumberField(required=False, default=0.0, min_value=0)
    tokens = WholeNumberField(required=False, default=0, min_value=0)
    money = NumberField(required=False, default=0.0, min_value=0)


class SearchIn(LimitsIn):
    """A new run. Rules about the values are the service's, so that page and API say the same."""

    task = serializers.CharField(max_length=64)
    device = serializers.CharField(max_length=80)
    generator = serializers.CharField(
        max_length=16, required=False, default="template", help_text="template or llm"
    )
    models = serializers.CharField(
        max_length=400,
        required=False,
        default="",
        allow_blank=True,
        help_text="Of llm: claude-sonnet-5-5:high claude-haiku-5-5; the site's own if absent.",
    )
    verifiers = serializers.CharField(
        max_length=80,
        required=False,
        default="",
        allow_blank=True,
        help_text="Of llm: the model that reads kernels before they are measured, or none.",
    )
    language = serializers.CharField(
        max_length=16,
        required=False,
        default="",
        allow_blank=True,
        help_text="The first that fits if absent.",
    )
    policy = serializers.ChoiceField(
        [(str(item), str(item)) for item in Policy], required=False, default=str(Policy.SURROGATE)
    )
    seed = WholeNumberField(required=False, default=0, min_value=0, max_value=2**31 - 1)
    slots = WholeNumberField(
        required=False, default=4, min_value=1, max_value=64, help_text="Measurements in a generation."
    )
    multiple = WholeNumberField(
        required=False,
        min_value=1,
        max_value=min(256, MOST_MULTIPLE),
        help_text="Candidates considered per measurement; 16 if absent, of llm 2.",
    )
    is_public = serializers.BooleanField(required=False, default=False)
    enters_best = serializers.BooleanField(
        required=False, default=True, help_text="Enter the best kernel on the board in your name."
    )


class StopIn(serializers.Serializer[object]):
    candidates = serializers.ListField(
        child=WholeNumberField(min_value=0, max_value=2**31 - 1), min_length=1, max_length=500
    )


class SearchOut(serializers.Serializer[SearchRun]):
    id = serializers.UUIDField()
    username = serializers.CharField(source="user.username")
    task = serializers.CharField(source="version.task.slug")
    version = serializers.IntegerField(source="version.number")
    device = serializers.CharField(source="device.slug")
    generator = serializers.CharField()
    language = serializers.CharField(help_text="Key of the template.")
    plan = serializers.JSONField()
    is_public = serializers.BooleanField()
    status = serializers.CharField(help_text="running, paused or finished")
    stop_reason = serializers.CharField(allow_blank=True)
    stop_message = serializers.CharField(allow_blank=True, help_text="Also why it is paused.")
    resumes_at = serializers.DateTimeField(
        allow_null=True, help_text="When a paused search goes on by itself; null where nobody knows."
    )
    seq = serializers.IntegerField(help_text="Number of the newest event.")
    generations = serializers.IntegerField()
    considered = serializers.IntegerField()
    measurements_limit = serializers.IntegerField()
    measurements_spent = serializers.IntegerField()
    measurements_reserved = serializers.IntegerField()
    device_seconds_limit = serializers.FloatField()
    device_seconds_spent = serializers.FloatField()
    device_seconds_reserved = serializers.FloatField()
    wall_seconds_limit = serializers.FloatField()
    tokens_limit = serializers.IntegerField()
    tokens_spent = serializers.IntegerField()
    tokens_reserved = serializers.IntegerField()
    money_limit = serializers.FloatField(help_text="US dollars.")
    money_spent = serializers.FloatField()
    money_reserved = serializers.FloatField(help_text="The most that calls under way may cost.")
    starter_seconds = serializers.FloatField(allow_null=True)
    best_seconds = serializers.FloatField(allow_null=True)
    entered = serializers.UUIDField(source="entered_id", allow_null=True, help_text="A submission.")
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class EventOut(serializers.Serializer[SearchEvent]):
    seq = serializers.IntegerField()
    kind = serializers.CharField()
    created_at = serializers.DateTimeField()
    document = serializers.JSONField()


class CandidateOut(serializers.Serializer[SearchCandidate]):
    number = serializers.IntegerField()
    seq = serializers.IntegerField(help_text="Number of the event that last changed it.")
    digest = serializers.CharField()
    parents = serializers.ListField(child=serializers.CharField(), help_text="Digests.")
    operator = serializers.CharField()
    parameters = serializers.JSONField()
    generation = serializers.IntegerField()
    island = serializers.IntegerField()
    action = serializers.CharField(help_text="skip, defer, measure or audit")
    reason = serializers.CharField(allow_blank=True)
    status = serializers.CharField(help_text="waiting, measuring, measured, failed or dropped")
    forecast_seconds = serializers.FloatField(
        source="told_seconds", allow_null=True, help_text="Null also while nothing like it has a time."
    )
    forecast_spread = serializers.FloatField(
        source="told_spread", allow_null=True, help_text="Standard deviation, octaves."
    )
    p_better = serializers.FloatField(allow_null=True)
    seconds = serializers.FloatField(allow_null=True)
    verdict = serializers.CharField(source="evaluation.verdict", default="")


class CandidateDetailOut(CandidateOut):
    source = serializers.CharField(source="kernel.source")  # type: ignore[assignment]  # DRF takes fields off
    kernel_language = serializers.CharField(source="kernel.language")


class ChangedOut(serializers.Serializer[object]):
    changed = serializers.BooleanField(help_text="False when there was nothing to do.")
    reason = serializers.CharField(required=False, help_text="Why there was nothing; only then.")


class EnteredOut(serializers.Serializer[object]):
    submission = serializers.UUIDField(help_text="The entry; follow it like any other.")


class StoppedOut(serializers.Serializer[object]):
    stopped = serializers.IntegerField()
